import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { PrometheusRule, ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Namespace, Secret, Service } from 'kubernetes-models/v1';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '#src/config.ts';

const FOLDER = 'deploy/kubernetes';
const KINDS = {
  Deployment,
  HorizontalPodAutoscaler,
  Namespace,
  NetworkPolicy,
  PodDisruptionBudget,
  Secret,
  Service,
  ServiceMonitor,
};
const read = (file: string) => parse(readFileSync(`${FOLDER}/${file}`, 'utf8'));
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.yaml'));
const manifests = files.filter((file) => !file.endsWith('kustomization.yaml'));

describe('the Kubernetes manifests', () => {
  it.each(manifests)('the Kubernetes manifest %s fits the schema of its kind', (file) => {
    const manifest = read(file);
    const Kind = KINDS[manifest.kind as keyof typeof KINDS] as typeof Deployment;
    expect(() => new Kind(manifest).validate()).not.toThrow();
    expect(new Kind(manifest).apiVersion).toBe(manifest.apiVersion);
  });

  it('the check of a Kubernetes manifest rejects a container without a name', () => {
    const manifest = read('deployment.yaml');
    manifest.spec.template.spec.containers[0].name = undefined;
    expect(() => new Deployment(manifest).validate()).toThrow();
  });

  it('every Kubernetes manifest is named in a kustomization, except the template of the Secret', () => {
    const named = ['', 'monitoring/'].flatMap((folder) =>
      read(`${folder}kustomization.yaml`).resources.map((file: string) => folder + file),
    );
    expect(named.sort()).toEqual(manifests.filter((file) => file !== 'secret.template.yaml').sort());
  });

  it('the Kubernetes manifests set only variables that the service knows', () => {
    const settings = parseEnv(readFileSync(`${FOLDER}/settings.env`, 'utf8'));
    const known = parseEnv(readFileSync('.env.example', 'utf8'));
    const secrets = read('secret.template.yaml').stringData;
    const given = { ...settings, ...secrets };
    expect(Object.keys(given).filter((name) => name !== 'NODE_ENV' && !(name in known))).toEqual([]);
    const config = parseConfig({
      ...settings,
      UPSTREAM_API_KEY: 'key',
      LINK_SECRET: 'x'.repeat(32),
    } as NodeJS.ProcessEnv);
    expect(config.redisUrls).toEqual([settings.REDIS_URL]);
  });

  it('a pod can drain and finish its requests before Kubernetes kills it', () => {
    const { DRAIN_SECONDS } = parseEnv(readFileSync(`${FOLDER}/settings.env`, 'utf8'));
    const { terminationGracePeriodSeconds } = read('deployment.yaml').spec.template.spec;
    expect(terminationGracePeriodSeconds).toBeGreaterThan(Number(DRAIN_SECONDS) + 10);
  });

  it('the autoscaler reads no metric that a cluster may lack: with an unreadable one it would remove no instance', () => {
    const { metrics } = read('autoscaler.yaml').spec;
    expect(metrics.map(({ type }: { type: string }) => type)).toEqual(['Resource']);
  });

  it('with a Prometheus Adapter the autoscaler also reads the event-loop delay, a metric that we publish', () => {
    const [{ patch }] = read('event-loop-delay/kustomization.yaml').patches;
    const [{ op, path, value }] = parse(patch);
    expect([op, path]).toEqual(['add', '/spec/metrics/-']);
    const autoscaler = read('autoscaler.yaml');
    autoscaler.spec.metrics.push(value);
    expect(() => new HorizontalPodAutoscaler(autoscaler).validate()).not.toThrow();
    expect(readFileSync('src/extensions/telemetry/metrics.ts', 'utf8')).toContain(value.pods.metric.name);
  });

  it('the command in the README loads our alerts into the Prometheus Operator, which reads rules only from its own kind', () => {
    const readme = readFileSync(`${FOLDER}/README.md`, 'utf8');
    const [, command = ''] = /```sh\n([^`]*PrometheusRule[^`]*)```/.exec(readme) ?? [];
    // Instead of kubectl, `cat` prints what it would get.
    const script = command.replace(/kubectl .* -f -/, 'cat');
    const rule = parse(execFileSync('sh', ['-euc', script], { cwd: FOLDER, encoding: 'utf8' }));
    expect(() => new PrometheusRule(rule).validate()).not.toThrow();
    expect(new PrometheusRule(rule).apiVersion).toBe(rule.apiVersion);
    expect(rule.spec.groups).toEqual(parse(readFileSync('deploy/prometheus/alerts.yml', 'utf8')).groups);
  });

  it('a pod has as much memory as a container in Compose', () => {
    const { limits } = read('deployment.yaml').spec.template.spec.containers[0].resources;
    const compose = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true });
    expect(limits.memory).toBe(compose.services.api.mem_limit.replace('m', 'Mi'));
  });
});
