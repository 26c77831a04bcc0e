#!/bin/sh
# apt_install.sh TARGET PACKAGE: installs a Debian package for a make target where this user may; succeeds either way.
set -eu
sudo=
[ "$(id -u)" = 0 ] || sudo="sudo -n"
if command -v apt-get >/dev/null && $sudo true 2>/dev/null; then
    echo "$1: installing $2 with apt" >&2
    install="$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 install
        -y --no-install-recommends $2"
    $install >&2 || { $sudo apt-get -qq update >&2 && $install >&2; } || true
fi
