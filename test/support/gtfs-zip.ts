import { crc32, deflateRawSync } from 'node:zlib';

interface Options {
  /** Compresses with `deflate`, for large texts. */
  method?: 'store' | 'deflate';
  /** Sizes that the directory declares in place of the real ones. */
  declaredSizes?: Readonly<Record<string, number>>;
  /** Writes sizes after each file instead of before it, as programs do that cannot seek back. */
  hasDescriptors?: boolean;
}

/** A zip with these files. */
export function gtfsZip(files: Readonly<Record<string, string | Buffer>>, options: Options = {}): Buffer {
  const { method = 'store', declaredSizes = {}, hasDescriptors = false } = options;
  const members: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const raw = Buffer.from(content as string);
    const data = method === 'deflate' ? deflateRawSync(raw) : raw;
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    // UTF-8 names
    fields.writeUInt16LE(hasDescriptors ? 0x0808 : 0x0800, 2);
    fields.writeUInt16LE(method === 'deflate' ? 8 : 0, 4);
    // 2026-11-20 03:00
    fields.writeUInt16LE(3 << 11, 6);
    fields.writeUInt16LE(((2026 - 1980) << 9) | (11 << 5) | 20, 8);
    fields.writeUInt32LE(crc32(raw), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(declaredSizes[name] ?? raw.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const before = Buffer.from(fields);
    if (hasDescriptors) before.fill(0, 10, 22);
    const header = Buffer.concat([Buffer.from('PK\x03\x04'), before, Buffer.from(name)]);
    const descriptor = hasDescriptors ? Buffer.concat([Buffer.from('PK\x07\x08'), fields.subarray(10, 22)]) : '';
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02'), fields.subarray(0, 2), fields, tail, Buffer.from(name)]));
    members.push(header, data, Buffer.from(descriptor));
    offset += header.length + data.length + descriptor.length;
  }
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...members, ...directory, end]);
}
