#!/bin/sh
# JSON Schema of what a zod parser accepts.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund zod@4.6.7

cat > run.mjs <<'PROGRAM'
import { z } from 'zod';

const number = z.number();
const cases = {
  pipe: [z.object({ n: z.string().transform(Number).pipe(number) }), { n: '5' }],
  preprocess: [z.object({ n: z.preprocess(Number, number) }), { n: '5' }],
  default: [z.object({ n: number.default(5) }), {}],
  catch: [z.object({ n: number.catch(5) }), {}],
};
for (const [name, [parser, input]] of Object.entries(cases)) {
  const { properties, required = [] } = z.toJSONSchema(parser, { io: 'input' });
  const described = `${properties.n.type}, ${required.includes('n') ? 'required' : 'optional'}`;
  console.log(`${name}: parses ${JSON.stringify(input)} as ${parser.parse(input).n}, schema: ${described}`);
}
PROGRAM
cat > expected <<'EXPECTED'
pipe: parses {"n":"5"} as 5, schema: string, required
preprocess: parses {"n":"5"} as 5, schema: number, required
default: parses {} as 5, schema: number, optional
catch: parses {} as 5, schema: number, required
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: z.toJSONSchema of zod 4.6.7 with `io: input`, source https://github.com/colinhacks/zod
Behaviour: The schema of the input refuses values that the parser accepts: `preprocess` is described by the schema
  after it, and a key with `catch` counts as required although it may be absent.
Why a good guess is wrong: `io: input` promises the schema before all conversions. For a pipe it keeps this promise,
  and a key with `default` is optional.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
