#!/bin/sh
# workerd that dies with the runner, however that dies: left alone it would go on serving from the same files. Ctrl-C is
# the runner's to handle.
trap '' INT
exec setpriv --pdeathsig KILL -- "$RUNNER_WORKERD" "$@"
