/**
 * A copy that holds on to nothing but itself. What a decoder or a socket hands out is often a small view of a large
 * piece of memory, which lives for as long as the view: a cache of views takes many times what it counts.
 */
export function exactBytes(view: Buffer): Buffer {
  const exact = Buffer.allocUnsafeSlow(view.length);
  view.copy(exact);
  return exact;
}
