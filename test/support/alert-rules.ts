import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { ensureProgram } from './debian.ts';
import { readSelectors } from './promql.ts';

const RULES = resolve('deploy/prometheus/alerts.yml');

const { groups } = parse(readFileSync(RULES, 'utf8')) as { groups: { rules: { alert: string; expr: string }[] }[] };
const rules = groups.flatMap((group) => group.rules);
export const ALERTS = rules.map(({ alert }) => alert);

/** The metrics that the rules read. */
const read = new Set(rules.flatMap(({ expr }) => readSelectors(expr).map(({ metric }) => metric)));

/** The series that Prometheus would store for one instance that it scrapes once a minute. */
export interface Recording {
  /** Adds the text of a scrape, or null when the instance was unreachable. */
  add(text: string | null): void;
  /** The names of the alerts that fired at any time. */
  fired(): string[];
}

export function createRecording(): Recording {
  const series = new Map<string, string[]>();
  let scrapes = 0;

  function put(metric: string, labels: string, value: string): void {
    if (!read.has(metric)) return;
    const name = `${metric}{job="transit",instance="a:9090"${labels && `,${labels}`}}`;
    const values = series.get(name) ?? [];
    series.set(name, values);
    while (values.length < scrapes) values.push('_');
    values.push(value);
  }

  return {
    add(text) {
      put('up', '', text === null ? '0' : '1');
      for (const line of text?.split('\n') ?? []) {
        const [, metric = '', labels = '', value] = /^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
        if (value) put(metric, labels, value);
      }
      scrapes++;
    },
    fired: () =>
      evaluate(
        [...series].map(([name, values]) => ({ series: name, values: values.join(' ') })),
        scrapes,
      ),
  };
}

/** Prometheus itself evaluates the rules. The test file expects no alert, so whatever Prometheus reports has fired. */
function evaluate(inputSeries: object[], minutes: number): string[] {
  ensureProgram('promtool', 'prometheus');
  const directory = mkdtempSync(join(tmpdir(), 'transit-alerts-'));
  const file = join(directory, 'test.json');
  const expr = 'max by (alertname) (last_over_time(ALERTS{alertstate="firing"}[2d]))';
  const expectation = { expr, eval_time: `${minutes}m`, exp_samples: [] };
  const test = { interval: '1m', input_series: inputSeries, promql_expr_test: [expectation] };
  writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests: [test] }));
  try {
    execFileSync('promtool', ['test', 'rules', file], { encoding: 'utf8', stdio: 'pipe' });
    return [];
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    const [, got] = /exp: nil\s+got: (.*)/.exec(`${stdout}${stderr}`) ?? [];
    if (!got) throw error;
    return [...got.matchAll(/alertname="(\w+)"/g)].map(([, name = '']) => name).sort();
  } finally {
    rmSync(directory, { recursive: true });
  }
}
