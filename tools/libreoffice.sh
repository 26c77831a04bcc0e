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
"$(dirname "$0")/apt_install.sh" test-office libreoffice-calc
ready && exit 0
echo "test-office: no LibreOffice Calc found; install the package libreoffice-calc and run make test-office again." >&2
exit 1
