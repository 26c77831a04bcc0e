#!/bin/sh
# Prints the path of a Chromium; installs Debian's where there is none and this user may.
set -eu
find_chromium() {
    for name in chromium chromium-browser google-chrome; do
        command -v "$name" && return 0
    done
    return 1
}
find_chromium && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "browser: installing chromium with apt" >&2
    export DEBIAN_FRONTEND=noninteractive
    install="apt-get -qq -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 install -y --no-install-recommends chromium"
    $install >&2 || { apt-get -qq update >&2 && $install >&2; } || true
    find_chromium && exit 0
fi
echo "browser: no Chromium found; install the package chromium and run make browser again." >&2
exit 1
