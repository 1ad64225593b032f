#!/bin/sh
# The smallest bot: the first legal action, by the lines of docs/bots.md. Two games end only if somebody wants it: in Loot
# it fires at the first chance, in Sphinx's Paw it votes for the end at once.
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
        *'"must":false'*) choice='"index":null' ;;
        *'{"type":"fire"}'*) choice='"action":{"type":"fire"}' ;;
        *'{"type":"vote","end":true}'*) choice='"action":{"type":"vote","end":true}' ;;
        *) choice='"index":0' ;;
        esac
        echo "{\"event\":\"choice\",\"id\":$id,$choice}"
        ;;
    esac
done
