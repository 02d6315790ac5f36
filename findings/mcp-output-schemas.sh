#!/bin/sh
# A tool that returns more than its output schema has.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund \
  @modelcontextprotocol/server@2.4.0 @modelcontextprotocol/client@2.4.0 zod@4.6.7

cat > run.mjs <<'PROGRAM'
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const server = new McpServer({ name: 'boards', version: '1' });
const schemas = {
  inputSchema: z.object({ limit: z.number().default(5) }),
  outputSchema: z.object({ stop: z.string(), live: z.boolean().default(false) }),
};
const find = async ({ limit }) => ({ content: [], structuredContent: { stop: 'Central', limit } });
server.registerTool('board', schemas, find);
const [near, far] = InMemoryTransport.createLinkedPair();
const client = new Client({ name: 'assistant', version: '1' });
await Promise.all([server.connect(near), client.connect(far)]);
async function call(when) {
  const result = client.callTool({ name: 'board', arguments: { limits: 1 } });
  const show = ({ structuredContent }) => JSON.stringify(structuredContent);
  const shown = await result.then(show, ({ message }) => message.split(', ')[0]);
  console.log(`${when}: ${shown}`);
}
await call('before tools are listed');
const { outputSchema } = (await client.listTools()).tools[0];
console.log('schema: required', outputSchema.required.join(' '), 'others', outputSchema.additionalProperties);
await call('after');
process.exit(0);
PROGRAM
cat > expected <<'EXPECTED'
before tools are listed: {"stop":"Central","limit":5}
schema: required stop live others false
after: Structured content does not match the tool's output schema: data must have required property 'live'
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: @modelcontextprotocol/server and client 2.4.0 with zod 4.6.7, source
  https://github.com/modelcontextprotocol/typescript-sdk
Behaviour: The server checks a result with zod but sends the original: unknown keys stay and defaults are missing,
  although its list of tools publishes a schema that forbids the first and requires the second. The client checks with
  that schema, but only once it has listed the tools. In arguments, an unknown key (limits) is dropped.
Why a good guess is wrong: Both sides check the same schema of one package family, so one expects the parsed result to
  be sent, or the server to refuse it. A test that calls a tool without listing passes.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
