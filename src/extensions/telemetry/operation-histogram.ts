import type { MetricObjectWithValues, MetricValueWithName } from 'prom-client';

/** `counts` has one count per bound, then that of values above all bounds. `sum` is the sum of all values. */
interface Observed {
  counts: number[];
  sum: number;
}

/**
 * A histogram with one label, `operation`. The one of prom-client builds a key of all labels for each value, which costs as much
 * as a log line.
 */
export class OperationHistogram {
  readonly type = 'histogram';
  readonly name: string;
  readonly help: string;
  readonly #bounds: readonly number[];
  readonly #observed = new Map<string, Observed>();

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.name = name;
    this.help = help;
    this.#bounds = bounds;
  }

  observe(operation: string, value: number): void {
    const observed = this.#observed.get(operation) ?? this.#begin(operation);
    let index = 0;
    for (const bound of this.#bounds) {
      if (value <= bound) break;
      index++;
    }
    observed.counts[index] = (observed.counts[index] ?? 0) + 1;
    observed.sum += value;
  }

  #begin(operation: string): Observed {
    const observed = { counts: [...this.#bounds, 0].fill(0), sum: 0 };
    this.#observed.set(operation, observed);
    return observed;
  }

  /** For the registry of prom-client. */
  async get(): Promise<
    Omit<MetricObjectWithValues<MetricValueWithName<string>>, 'type' | 'collect'> & { type: 'histogram' }
  > {
    const { name, help, type } = this;
    const values = [...this.#observed].flatMap(([operation, { counts, sum }]) => {
      let total = 0;
      const buckets = counts.map((count, index) => {
        total += count;
        const labels = { le: this.#bounds[index] ?? '+Inf', operation };
        return { metricName: `${name}_bucket`, labels, value: total };
      });
      const labels = { operation };
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: total },
      ];
    });
    return { name, help, type, aggregator: 'sum', values };
  }
}
