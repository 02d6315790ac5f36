#!/bin/sh
# The intersection of two strict objects.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund zod@4.6.7

cat > run.mjs <<'PROGRAM'
import { z } from 'zod';

const route = z.strictObject({ route: z.string() });
const stop = z.strictObject({ stop: z.string() });
const both = z.intersection(route, stop);
const value = { route: '333', stop: 'Bondi' };
const says = (schema, input) => (schema.safeParse(input).success ? 'accepted' : 'refused');
console.log('left side alone:', says(route, value));
console.log('right side alone:', says(stop, value));
console.log('intersection:', says(both, value));
console.log('intersection, with a key of neither:', says(both, { ...value, line: 'T1' }));
const { properties, additionalProperties, allOf } = z.toJSONSchema(both);
console.log('JSON Schema:', Object.keys(properties ?? {}).join(' '), additionalProperties, allOf ?? 'without allOf');
PROGRAM
cat > expected <<'EXPECTED'
left side alone: refused
right side alone: refused
intersection: accepted
intersection, with a key of neither: refused
JSON Schema: route stop false without allOf
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: zod 4.6.7, source https://github.com/colinhacks/zod
Behaviour: An intersection of strict objects accepts a key that only one side has, although the other side alone
  refuses it. Only a key of neither side is refused. Its JSON Schema is one merged object.
Why a good guess is wrong: An intersection means that both sides accept the value, so two strict objects with
  different keys should refuse everything, as `allOf` does in JSON Schema.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
