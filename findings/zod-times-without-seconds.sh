#!/bin/sh
# Times without seconds in z.iso.datetime.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund zod@4.6.7

cat > run.mjs <<'PROGRAM'
import { z } from 'zod';

const values = ['2026-01-01T10:00', '2026-01-01T10:00Z', '2026-01-01T10:00+11:00', '2026-01-01T10:00:00+11:00'];
const parser = z.iso.datetime({ local: true, offset: true });
for (const value of values) console.log(value, parser.safeParse(value).success ? 'accepted' : 'refused');
PROGRAM
cat > expected <<'EXPECTED'
2026-01-01T10:00 accepted
2026-01-01T10:00Z refused
2026-01-01T10:00+11:00 refused
2026-01-01T10:00:00+11:00 accepted
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: z.iso.datetime of zod 4.6.7, source https://github.com/colinhacks/zod
Behaviour: Whether seconds may be left out depends on the zone: a local time may lack them (with `local`), a time with
  Z or an offset may not. The option `precision` of -1 admits it without, but then never with seconds.
Why a good guess is wrong: ISO 8601 lets both leave out the seconds, and an option that admits local times should not
  change what the time of day looks like.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
