#!/bin/sh
# Absent keys whose schema accepts undefined.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund zod@4.6.7

cat > run.mjs <<'PROGRAM'
import { z } from 'zod';

const schemas = { unknown: z.unknown(), any: z.any(), undefined: z.undefined(), 'coerce.string': z.coerce.string() };
for (const [name, value] of Object.entries(schemas)) {
  const object = z.object({ key: value });
  const [alone, asUndefined, absent] = [
    value.safeParse(undefined),
    object.safeParse({ key: undefined }),
    object.safeParse({}),
  ].map(({ success }) => (success ? 'accepted' : 'refused'));
  console.log(`${name}: alone ${alone}, key with undefined ${asUndefined}, absent key ${absent}`);
}
PROGRAM
cat > expected <<'EXPECTED'
unknown: alone accepted, key with undefined accepted, absent key refused
any: alone accepted, key with undefined accepted, absent key refused
undefined: alone accepted, key with undefined accepted, absent key refused
coerce.string: alone accepted, key with undefined accepted, absent key refused
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: zod 4.6.7, source https://github.com/colinhacks/zod
Behaviour: An object without the key is refused even where the schema of the key accepts undefined: `unknown`, `any`,
  `undefined` and `coerce.string`. The same key with the value undefined is accepted.
Why a good guess is wrong: A missing property reads as undefined, which each of these schemas accepts alone. Only
  schemas that are marked as optional let a key be absent.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
