import { parser } from '@prometheus-io/lezer-promql';

/** A metric that an expression reads, with the labels by which it selects. */
interface Selector {
  metric: string;
  labels: string[];
}

/** Parses a Prometheus expression. Throws when it is invalid. */
export function readSelectors(expression: string): Selector[] {
  const selectors: Selector[] = [];
  parser.parse(expression).iterate({
    enter({ type, from, to }) {
      const text = expression.slice(from, to);
      if (type.isError) throw new Error(`not PromQL at ${from}: ${expression}`);
      if (type.name === 'Identifier') selectors.push({ metric: text, labels: [] });
      if (type.name === 'UnquotedLabelMatcher') selectors.at(-1)?.labels.push(/^\w+/.exec(text)?.[0] ?? '');
    },
  });
  return selectors;
}
