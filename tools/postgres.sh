#!/usr/bin/env bash
# Runs a command with a PostgreSQL server of its own on loopback, whose address is in SIZER_TEST_POSTGRES; the server is
# stopped and removed at the end whatever happens. Installs Debian's PostgreSQL where there is none and this user may.
set -euo pipefail

# Debian keeps the server's programs out of the path; the highest version counts.
find_programs() {
    local found
    found=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
    if [ -n "$found" ] && [ -x "$found/initdb" ]; then
        echo "$found"
    else
        found=$(command -v initdb) && dirname "$(readlink -f "$found")"
    fi
}

if ! programs=$(find_programs); then
    "$(dirname "$0")/apt_install.sh" test-postgres postgresql
    if ! programs=$(find_programs); then
        echo "test-postgres: no PostgreSQL server found; install the package postgresql and run make test-postgres again." >&2
        exit 1
    fi
fi

# The server refuses to run as root; Debian's package brings a user for it.
as_user=()
if [ "$(id -u)" = 0 ]; then
    if ! id postgres >/dev/null 2>&1; then
        echo "test-postgres: root cannot run PostgreSQL and there is no user postgres; run as another user." >&2
        exit 1
    fi
    as_user=(runuser -u postgres --)
fi

folder=$(mktemp -d "${TMPDIR:-/tmp}/sizer-postgres.XXXXXX")
clean_up() {
    # From a folder that the user postgres may enter: the checkout may be closed to him.
    cd /
    if [ -f "$folder/data/postmaster.pid" ]; then
        "${as_user[@]}" "$programs/pg_ctl" --pgdata="$folder/data" --mode=immediate --silent stop >/dev/null 2>&1 || true
    fi
    rm -rf "$folder"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

password=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
printf '%s\n' "$password" >"$folder/password"
mkdir "$folder/socket"
[ ${#as_user[@]} = 0 ] || chown -R postgres "$folder"

started() (
    cd /
    "${as_user[@]}" "$programs/initdb" --pgdata="$folder/data" --username=sizer --pwfile="$folder/password" \
        --auth=scram-sha-256 --encoding=UTF8 --locale=C --no-sync >"$folder/log" 2>&1 &&
        "${as_user[@]}" "$programs/pg_ctl" --pgdata="$folder/data" --log="$folder/data/log" --wait --timeout=60 --silent \
            --options="-c listen_addresses=127.0.0.1 -c port=$port -c unix_socket_directories='$folder/socket'
                -c fsync=off -c max_connections=60" \
            start >>"$folder/log" 2>&1
)
if ! started; then
    echo "test-postgres: the server does not start:" >&2
    tail -n 20 "$folder/log" "$folder/data/log" >&2 2>/dev/null || true
    exit 1
fi

status=0
SIZER_TEST_POSTGRES="postgresql://sizer:$password@127.0.0.1:$port/postgres" "$@" || status=$?
exit "$status"
