#!/bin/sh
# A logged field with the name of one of its own.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund pino@10.4.0

cat > run.mjs <<'PROGRAM'
import pino from 'pino';

const lines = [];
const write = (line) => lines.push(line.trim());
const log = pino({ base: null, timestamp: () => ',"time":1795900000000' }, { write });
// The parameters of a request for a board.
log.warn({ stop: '200070', time: '0830' }, 'refused');
log.child({ stop: '200070' }).warn({ stop: '200060' }, 'refused');
for (const line of lines) {
  console.log('written:', line);
  console.log('parsed: ', JSON.stringify(JSON.parse(line)));
}
PROGRAM
cat > expected <<'EXPECTED'
written: {"level":40,"time":1795900000000,"stop":"200070","time":"0830","msg":"refused"}
parsed:  {"level":40,"time":"0830","stop":"200070","msg":"refused"}
written: {"level":40,"time":1795900000000,"stop":"200070","stop":"200060","msg":"refused"}
parsed:  {"level":40,"time":1795900000000,"stop":"200060","msg":"refused"}
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: pino 10.4.0, source https://github.com/pinojs/pino
Behaviour: A field called time, level or msg does not replace pino's own: the line has both, and JSON.parse takes the last. A field of a
  child logger is repeated too.
Why a good guess is wrong: Arguments are merged into an object, so one expects one key, whichever wins. The moment of the
  line is lost to a reader that takes the last; others take the first, or refuse the line.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
