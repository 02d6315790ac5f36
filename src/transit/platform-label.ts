/** "Platform 3", "Stand K", "Coach Bay 10", "Wharf 2", "Side A"; but not "Wharf Rd". A lone coach stand has no number. */
const LABEL =
  /^((Platforms?|Stand|Wharf|Side|Bay|Coach Bay|Coach Stop|Berth|Jetty|Pontoon) (\d{1,2}[A-Z]?|[A-Z]\d{0,2})([/&-]\d{1,2})?|Coach (Bay|Stop))$/;

export function isPlatformLabel(text: string): boolean {
  return LABEL.test(text);
}

/** The stop name without the platform: "Redfern Station" for "Redfern Station, Platform 3". */
export function withoutPlatform(name: string): string {
  const parts = name.split(', ');
  const firstLabel = parts.findIndex(isPlatformLabel);
  return firstLabel > 0 ? parts.slice(0, firstLabel).join(', ') : name;
}

/** The platform labels in a name: "Wharf 3" and "Side A" in "Circular Quay, Wharf 3, Side A". */
export function labelParts(name: string): string[] {
  const parts = name.split(', ');
  const first = parts.findIndex(isPlatformLabel);
  if (first === -1) return [];
  const end = parts.findIndex((part, index) => index > first && !isPlatformLabel(part));
  return parts.slice(first, end === -1 ? undefined : end);
}
