# executor mpi on three hosts, which are network namespaces of this machine, each with a mount namespace in which the
# manager's files are hidden: the same bits as local workers, with shared files and without; and a host that is cut off.
# shellcheck shell=bash
# Everything is made in namespaces of this test's own, processes included, so that nothing is left however it ends.
if [ "${1:-}" != inside ]; then
  apart=(unshare --net --mount --pid --fork --kill-child --mount-proc)
  [ "$(id -u)" -eq 0 ] || apart+=(--map-root-user)
  if ! "${apart[@]}" ip link add probe type bridge 2>/dev/null; then
    echo "no network namespaces here, or no command ip: the hosts are not tried"
    exit 77
  fi
  if ! mpirun --version 2>/dev/null | grep -q 'Open MPI' || [ ! -e "$TUTTI_TEST_BUILDDIR/modules/mpilink.so" ]; then
    echo "no Open MPI here, or Tutti was built without it"
    exit 77
  fi
  exec "${apart[@]}" bash "$0" inside
fi
# shellcheck source=tests/cli/harness.sh
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
# shellcheck source=tests/cli/recipes.sh
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
while read -r name; do unset "$name"; done < <(compgen -e | grep -E '^(OMPI|PMIX|PMI|SLURM)_')

# --- the hosts: 10.77.0.1 is the manager's, 10.77.0.11 to 13 are node1 to node3 ---
mount -t tmpfs none /run
ip link set lo up
ip link add bridge0 type bridge
ip addr add 10.77.0.1/24 dev bridge0
ip link set bridge0 up
for i in 1 2 3; do
  ip netns add "node$i"
  ip link add "port$i" type veth peer name eth0 netns "node$i"
  ip link set "port$i" master bridge0 up
  ip -n "node$i" addr add "10.77.0.1$i/24" dev eth0
  ip -n "node$i" link set eth0 up
  ip -n "node$i" link set lo up
done
# What mpirun calls in place of ssh: HOST COMMAND... The node has a directory of its own that is called as a run of the
# manager's.
cat >launch <<'END'
#!/bin/bash
node=node${1#10.77.0.1}
shift
exec ip netns exec "$node" unshare --mount --uts bash -c '
  hostname "$1"
  for folder in $HIDDEN; do
    mount -t tmpfs none "$folder"
    mkdir "$folder/apart"
  done
  shift
  eval "$*"' launch "$node" "$@"
END
chmod +x launch
mkdir data runs scratch
make_table
mv table.csv data/
regression_recipe | sed 's/^path = .*/path = data\/table.csv/' >networks.ini
grep -q '^path = data/table.csv' networks.ini || exit 99
patience=240 nodes=',10.77.0.11:1,10.77.0.12:1,10.77.0.13:1'
watchful=()
hosts() { # ARGUMENTS...
  local only_commas=${nodes//[!,]/}
  what="mpirun on hosts: tutti $*"
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HIDDEN=$hidden timeout -s KILL $patience \
    mpirun --host "10.77.0.1:1$nodes" -n $((1 + ${#only_commas})) --bind-to none \
    --mca plm_rsh_agent "$PWD/launch" --mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/24 \
    --mca oob_tcp_if_include 10.77.0.0/24 "${watchful[@]}" "$TUTTI_PROGRAM" "$@" --set executor.plugin=mpi \
    --set executor.workers_per_rank=2 --set executor.scratch="$PWD/scratch" >out 2>err </dev/null
  code=$?
}
same() { # A B
  checks=$((checks + 1))
  diff -r -x catalogue.sqlite -x recipe.ini -x lock -x worker.log "$1" "$2" >>err 2>&1 || complain "expected that $2 is as $1"
}

tutti run networks.ini --out runs/one --workers 1 --quiet
expect_code 0
tutti run networks.ini --out runs/three --workers 3 --quiet
expect_code 0
same runs/one runs/three

# Shared files; then none, which auto finds out.
hidden=''
hosts run networks.ini --out runs/shared --verbose
expect_code 0
expect_not_in err 'a folder of its own'
same runs/one runs/shared
hidden="$PWD/runs $PWD/data"
hosts run networks.ini --out runs/apart --verbose
expect_code 0
expect_err 'rank 1 on node1 does not see runs/apart' 'rank 3 on node3 does not see runs/apart'
same runs/one runs/apart
checks=$((checks + 1))
[ -z "$(ls scratch)" ] || complain "expected no folder of an agent, found $(ls scratch)"

# Told that they are shared, a node without them is named; so is a file that is missing on nodes that share the run.
hosts run networks.ini --out runs/told --quiet --set executor.shared=yes
expect_error
expect_err 'on node' "the run directory runs/told is not the manager's there" 'executor.shared = yes'
hidden="$PWD/data"
hosts run networks.ini --out runs/nodata --quiet
expect_error
expect_err 'on node' 'data/table.csv: No such file'

# A host that is cut off in the middle. Tutti says so within executor.lost_after, and ends; mpirun would wait for its own
# daemon there. Told to look whether its connections live, it notices by itself, and all ends. --resume goes on, to the
# same bits.
function_recipe function 0.2 60 | sed 's/^\[run\]/[run]\nwindow = 12/' >function.ini
tutti run function.ini --out runs/plain --workers 3 --quiet
expect_code 0
cut_off() { # NODE DIRECTORY ARGUMENTS...
  local port=port$1 directory=$2 job done=0 tries began took
  shift 2
  hosts run function.ini --out "$directory" --quiet "$@" &
  job=$!
  for ((tries = 0; ${done:-0} < 10 && tries < 300; tries++)); do
    sleep 0.1
    "$TUTTI_PROGRAM" status "$directory" --json >status 2>/dev/null </dev/null
    done=$("$json_value" status trials done 2>/dev/null)
  done
  ip link set "$port" down
  began=$SECONDS
  wait $job 2>/dev/null
  took=$((SECONDS - began))
  checks=$((checks + 1))
  [ $took -le 60 ] || complain "expected an end within a minute, and it took $took s"
  expect_absent "$directory/summary.json"
}
resume() { # DIRECTORY
  hosts run function.ini --out "$1" --resume --quiet
  expect_code 0
  same runs/plain/summary.json "$1/summary.json"
}
patience=20 hidden=''
cut_off 2 runs/cut --set executor.lost_after=4
expect_err 'rank 2 on node2 has not been heard of for' 'executor.lost_after' '--resume goes on'
patience=240 nodes=',10.77.0.11:1,10.77.0.13:1'
resume runs/cut
hidden="$PWD/runs $PWD/data"
watchful=(--mca oob_tcp_keepalive_time 2 --mca oob_tcp_keepalive_intvl 1 --mca oob_tcp_keepalive_probes 3)
cut_off 3 runs/cut-apart
expect_err 'lost communication with a remote daemon' '10.77.0.13'
nodes=',10.77.0.11:1'
resume runs/cut-apart
finish
