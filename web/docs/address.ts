/** The address in our Markdown and examples, replaced by the service's address. */
export const EXAMPLE_URL = 'http://localhost:3000';

export function withAddress(text: string, publicUrl: string): string {
  return text.replaceAll(EXAMPLE_URL, publicUrl).replaceAll('https://YOUR_ADDRESS', publicUrl);
}
