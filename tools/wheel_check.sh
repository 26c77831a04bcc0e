#!/usr/bin/env bash
# Builds the wheel and uses it as a customer would: locked run-time packages only, outside the checkout.
set -euo pipefail
unset PYTHONPATH VIRTUAL_ENV
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { echo "wheel-check: $*"; }

say "building the wheel"
cd "$root"
"$root/.venv/bin/python" -m hatchling build --target wheel --directory "$work/dist" >"$work/build.log" 2>&1 ||
    { cat "$work/build.log" >&2; say "the wheel does not build." >&2; exit 1; }

say "installing it with requirements.lock into an empty environment"
cd "$work"
# With pip alone: not every network lets uv through.
"$root/.venv/bin/python" -m venv "$work/venv"
pip=("$work/venv/bin/python" -m pip --quiet --disable-pip-version-check install)
"${pip[@]}" --require-hashes -r "$root/requirements.lock"
"${pip[@]}" --no-deps "$work"/dist/*.whl

say "checking the catalogue"
"$work/venv/bin/sizer" catalog check

say "sizing an example"
request=$("$work/venv/bin/python" -c '
from sizer.base.resources import checkout_dir, data_dir
assert checkout_dir() is None, "the checkout was imported, not the wheel"
print(min(data_dir("examples").glob("*.toml")))')
"$work/venv/bin/sizer" size "$request" --out "$work/out"
[ -n "$(ls -A "$work/out")" ] || { say "sizing wrote no document." >&2; exit 1; }
say "passed"
