#!/bin/sh
# Prints the path of LibreOffice's soffice; installs Debian's Calc where there is none and this user may.
set -eu
find_soffice() {
    command -v soffice || command -v libreoffice
}
# A LibreOffice without Calc cannot open a workbook; Debian keeps Calc in a package of its own.
has_calc() {
    case $(readlink -f "$1") in
        /usr/lib/libreoffice/*) ls /usr/lib/libreoffice/program/libsclo.so >/dev/null 2>&1 ;;
    esac
}
ready() {
    path=$(find_soffice) && has_calc "$path" && echo "$path"
}
ready && exit 0
sudo=
[ "$(id -u)" = 0 ] || sudo="sudo -n"
if command -v apt-get >/dev/null && $sudo true 2>/dev/null; then
    echo "test-office: installing libreoffice-calc with apt" >&2
    install="$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 install
        -y --no-install-recommends libreoffice-calc"
    $install >&2 || { $sudo apt-get -qq update >&2 && $install >&2; } || true
    ready && exit 0
fi
echo "test-office: no LibreOffice Calc found; install the package libreoffice-calc and run make test-office again." >&2
exit 1
