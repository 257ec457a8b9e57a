export PATH=$PWD/node_modules/.bin:$PATH
biome check --write src test >/dev/null 2>&1; tsc -p . | head; git add -A; GIT_EDITOR=true git rebase --continue 2>&1 | tail -2
