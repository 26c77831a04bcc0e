#!/bin/sh
# Prints the path of nginx; installs Debian's where there is none and this user may.
set -eu
find_nginx() {
    PATH=$PATH:/usr/sbin:/usr/local/sbin command -v nginx
}
find_nginx && exit 0
"$(dirname "$0")/apt_install.sh" test-proxy nginx-light
find_nginx && exit 0
echo "test-proxy: no nginx found; install the package nginx-light and run make test-proxy again." >&2
exit 1
