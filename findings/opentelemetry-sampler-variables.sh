#!/bin/sh
# The sampler's environment variables in the two packages with a tracer provider of OpenTelemetry.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund @opentelemetry/api@1.9.1 @opentelemetry/sdk-trace@2.12.1 @opentelemetry/sdk-trace-node@2.12.1

cat > run.mjs <<'PROGRAM'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { InMemorySpanExporter as OldExporter, NodeTracerProvider, SimpleSpanProcessor as OldProcessor } from '@opentelemetry/sdk-trace-node';

function countSpans(Provider, processor, exporter) {
  const tracer = new Provider({ spanProcessors: [processor] }).getTracer('test');
  for (let index = 0; index < 10; index++) tracer.startSpan('work').setAttribute('text', 'x'.repeat(20)).end();
  const spans = exporter.getFinishedSpans();
  return `${spans.length} of 10 spans, text of ${spans[0]?.attributes.text.length ?? 0}`;
}

const old = new OldExporter();
const current = new InMemorySpanExporter();
const what = process.argv[2];
console.log(`${what}, sdk-trace-node:`, countSpans(NodeTracerProvider, new OldProcessor(old), old));
console.log(`${what}, sdk-trace:`, countSpans(TracerProvider, new SimpleSpanProcessor({ exporter: current }), current));
PROGRAM
cat > expected <<'EXPECTED'
always_off, sdk-trace-node: 0 of 10 spans, text of 0
always_off, sdk-trace: 10 of 10 spans, text of 20
limit of 5, sdk-trace-node: 10 of 10 spans, text of 5
limit of 5, sdk-trace: 10 of 10 spans, text of 20
EXPECTED

OTEL_TRACES_SAMPLER=always_off node run.mjs always_off > output
OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT=5 node run.mjs 'limit of 5' >> output
cat <<'ABOUT'
What: @opentelemetry/sdk-trace 2.12.1 and @opentelemetry/sdk-trace-node 2.12.1, source https://github.com/open-telemetry/opentelemetry-js
Behaviour: NodeTracerProvider obeys OTEL_TRACES_SAMPLER and OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT. TracerProvider of sdk-trace,
  which replaces it, ignores both without a word: it keeps all spans, whole.
Why a good guess is wrong: The variables belong to OpenTelemetry's specification for SDKs, both packages are of one release and
  one repository, and the exporter beside them still reads its variables.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
