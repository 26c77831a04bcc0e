#!/usr/bin/env bash
# Looks the locked packages up among published advisories. Where these cannot be reached it says so and fails: an audit
# that did not happen is not one that found nothing.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { echo "audit: $*"; }

"$root/.venv/bin/uv" --quiet venv --python "$root/.venv/bin/python" "$work/venv"
"$root/.venv/bin/uv" --quiet pip install --python "$work/venv/bin/python" pip-audit ||
    { say "pip-audit cannot be installed here; nothing was looked up." >&2; exit 1; }
look_up() {
    timeout 300 "$work/venv/bin/pip-audit" --disable-pip --progress-spinner off --format columns "$@" 2>"$work/errors"
}

# An index that answers without advisories finds nothing in anything: this version of Jinja2 has several.
echo 'jinja2==2.10' >"$work/known"
if look_up --requirement "$work/known" --no-deps --output "$work/found" || [ ! -s "$work/found" ]; then
    tail -n 1 "$work/errors" >&2
    say "advisories cannot be reached, as one that is known is not found; nothing was looked up." >&2
    exit 1
fi

status=0
for lock in requirements.lock dev.lock; do
    # It ends with 1 both where it finds an advisory and where it fails: only then no report is written.
    if look_up --requirement "$root/$lock" --require-hashes --output "$work/$lock"; then
        say "$lock: no known vulnerabilities"
    elif [ -s "$work/$lock" ]; then
        say "$lock:"
        cat "$work/$lock"
        status=1
    else
        tail -n 1 "$work/errors" >&2
        say "$lock: could not be looked up." >&2
        status=1
    fi
done
exit "$status"
