type Headers = Readonly<Record<string, unknown>>;

/** How many requests of the day are left, as a response says; null without a daily limit. */
export function leftToday({ ratelimit }: Headers): number | null {
  return parseDaily(/^"daily";r=(\d{1,9});/, ratelimit);
}

/** The daily limit, as a response says; null without one. */
export function dailyLimitOf({ 'ratelimit-policy': policy }: Headers): number | null {
  return parseDaily(/^"daily";q=(\d{1,9});/, policy);
}

function parseDaily(pattern: RegExp, value: unknown): number | null {
  const [, digits] = pattern.exec(String(value)) ?? [];
  return digits === undefined ? null : Number(digits);
}
