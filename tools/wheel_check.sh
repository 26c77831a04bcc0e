#!/usr/bin/env bash
# Makes a release with a key of its own, verifies it as SECURITY.md says, and uses the wheel as a customer would: locked
# run-time packages only, outside the checkout.
set -euo pipefail
unset PYTHONPATH VIRTUAL_ENV
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { echo "wheel-check: $*"; }

say "making a release"
command -v ssh-keygen >/dev/null || "$root/tools/apt_install.sh" wheel-check openssh-client
ssh-keygen -q -t ed25519 -N "" -f "$work/key"
"$root/tools/release.sh" "$work/key" "$work/dist"

say "verifying it"
cd "$work/dist"
echo "maintainer $(cat "$work/key.pub")" >signers
verify=$(sed -n '/^ssh-keygen -Y verify/,/^```/{/^```/d;p}' "$root/SECURITY.md")
eval "$verify"
for file in *.whl SHA256SUMS; do  # one byte more in what is signed, or in what the checksums are of
    cp "$file" "$work/before"
    echo >>"$file"
    ! (eval "$verify") >"$work/verified" 2>&1 || { say "$file was changed and is accepted." >&2; exit 1; }
    cp "$work/before" "$file"
done

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
