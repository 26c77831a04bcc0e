#!/usr/bin/env bash
# release.sh KEY FOLDER: what a release of this commit consists of, with checksums signed by the maintainer's own SSH key.
# `make release KEY=file`; how a reader verifies it is in SECURITY.md.
set -euo pipefail
key=$(realpath -e "${1:?no key: make release KEY=~/.ssh/id_ed25519}")
mkdir -p "$2"
folder=$(realpath "$2")
cd "$(dirname "$0")/.."

say() { echo "release: $*"; }

[ -z "$(ls -A "$folder")" ] || { say "$folder is not empty; remove what is in it." >&2; exit 1; }
command -v ssh-keygen >/dev/null || tools/apt_install.sh release openssh-client
.venv/bin/python -m hatchling build --directory "$folder" >"$folder/build.log" 2>&1 ||
    { cat "$folder/build.log" >&2; say "the packages do not build." >&2; exit 1; }
rm "$folder/build.log"
.venv/bin/python -m tools.sbom "$folder/sbom.cdx.json"
cd "$folder"
sha256sum -- * >SHA256SUMS
ssh-keygen -q -Y sign -f "$key" -n dl-cluster-configurator SHA256SUMS
say "$folder: $(ls | xargs)"
