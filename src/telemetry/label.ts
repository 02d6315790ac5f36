/** A name of the code as a label's value: "staleBusy" → "stale-busy". */
export function toLabel(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
