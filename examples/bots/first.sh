#!/bin/sh
# The smallest bot: always the first legal action, by the lines of docs/bots.md.
#
#   fairdeal bot duel loot "exec:sh examples/bots/first.sh" gentle --games 20
while read -r line; do
    case $line in
    '{"event":"hello"'*)
        echo '{"event":"ready","name":"first"}'
        ;;
    '{"event":"choose"'*)
        id=${line#*'"id":'}
        id=${id%%,*}
        case $line in
        *'"must":true'*) echo "{\"event\":\"choice\",\"id\":$id,\"index\":0}" ;;
        *) echo "{\"event\":\"choice\",\"id\":$id,\"index\":null}" ;;
        esac
        ;;
    esac
done
