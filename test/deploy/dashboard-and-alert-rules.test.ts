import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createInstruments } from '#src/extensions/telemetry/instruments.ts';
import { scrape } from '../support/metrics.ts';
import { readSelectors } from '../support/promql.ts';

interface Panel {
  id: number;
  title: string;
  type: string;
  targets?: { expr: string }[];
}

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string };
}

const dashboard = JSON.parse(readFileSync('deploy/grafana/dashboards/transit.json', 'utf8')) as { panels: Panel[] };
const { groups } = parse(readFileSync('deploy/prometheus/alerts.yml', 'utf8')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const { types } = await scrape();
/** The types of prom-client omit these two. */
const instruments = Object.values(createInstruments()) as unknown as { name: string; labelNames: string[] }[];
const labelsOf = new Map(instruments.map(({ name, labelNames }) => [name, labelNames]));

/** The names of all series: the service's, `up`, which Prometheus creates itself, and those of the node exporter. */
const known = new Set([
  'up',
  'node_filesystem_avail_bytes',
  'node_filesystem_size_bytes',
  'node_systemd_unit_state',
  'node_systemd_timer_last_trigger_seconds',
  ...[...types].flatMap(([name, type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  ),
]);

function expectToBeKnown(expression: string): void {
  const selectors = readSelectors(expression.replaceAll('$__rate_interval', '1m'));
  expect(selectors.length).toBeGreaterThan(0);
  for (const { metric, labels } of selectors) {
    expect([...known], expression).toContain(metric);
    const own = labelsOf.get(metric);
    if (own) expect([...own, 'instance'], expression).toEqual(expect.arrayContaining(labels));
  }
}

describe('the dashboard', () => {
  const panels = dashboard.panels.filter(({ type }) => type !== 'row');

  it.each(panels.map((panel) => [panel.title, panel] as const))(
    'the dashboard panel "%s" shows only series that exist',
    (_title, { targets = [] }) => {
      expect(targets.length).toBeGreaterThan(0);
      for (const { expr } of targets) expectToBeKnown(expr);
    },
  );

  it('the dashboard shows the age of responses by operation, since a list of stops is older than any board', () => {
    const exprs = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const ages = exprs.filter((expr) => expr.includes('transit_response_age_seconds'));
    expect(ages.length).toBeGreaterThan(0);
    for (const expr of ages) expect(expr).toContain('sum by (operation, le)');
  });

  it('no two panels of the dashboard have the same id', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('the dashboard shows every metric of the service', () => {
    const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n');
    const ours = [...types.keys()].filter((name) => name.startsWith('transit_'));
    expect(ours.length).toBeGreaterThan(20);
    expect(ours.filter((name) => !shown.includes(name))).toEqual([]);
  });
});

describe('the alert rules', () => {
  const operations = readFileSync('docs/operations.md', 'utf8');

  it.each(rules.map((rule) => [rule.alert, rule] as const))(
    'the alert %s reads only series that exist, and has its entry in the runbook',
    (name, rule) => {
      expectToBeKnown(rule.expr);
      expect(rule.labels.severity).toMatch(/^(page|warn)$/);
      expect(rule.annotations.summary).toMatch(/\.$/);
      const [, entry = ''] =
        new RegExp(`^### ${name}\\n\\n([\\s\\S]*?)(?=\\n##|$(?![\\s\\S]))`, 'm').exec(operations) ?? [];
      expect(entry).toMatch(/\*\*Means\*\*[\s\S]+\*\*Look at\*\*[\s\S]+\*\*Do\*\*/);
    },
  );

  it('each alert has a name of its own', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });
});

describe('the alert manager', () => {
  const { inhibit_rules: inhibitions } = parse(readFileSync('deploy/alertmanager/alertmanager.yml', 'utf8')) as {
    inhibit_rules: { source_matchers: string[]; target_matchers: string[] }[];
  };

  it('the alert manager suppresses FeedDown while UpstreamFails fires', () => {
    expect(inhibitions).toContainEqual({
      source_matchers: ['alertname="UpstreamFails"'],
      target_matchers: ['alertname="FeedDown"'],
    });
  });

  it('the alert manager names only alerts that exist', () => {
    const matchers = inhibitions.flatMap((rule) => [...rule.source_matchers, ...rule.target_matchers]);
    const named = matchers.flatMap((matcher) => /^alertname="(\w+)"$/.exec(matcher)?.[1] ?? []);
    expect(rules.map(({ alert }) => alert)).toEqual(expect.arrayContaining(named));
  });
});
