import { promisify } from 'node:util';
import { crc32, deflateRaw } from 'node:zlib';

/** The earliest date that a zip can have, so that the bytes depend only on the contents. */
const DOS_DATE = (1 << 5) | 1;
const UTF8_NAMES = 0x0800;
const DEFLATED = 8;

/** Creates a zip. `files` maps names to texts. */
export async function zipOf(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const members: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const raw = Buffer.from(text);
    const data = await promisify(deflateRaw)(raw);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(UTF8_NAMES, 2);
    common.writeUInt16LE(DEFLATED, 4);
    common.writeUInt16LE(DOS_DATE, 8);
    common.writeUInt32LE(crc32(raw), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(raw.length, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    members.push(Buffer.from('PK\x03\x04'), common, Buffer.from(name), data);
    directory.push(Buffer.from('PK\x01\x02'), common.subarray(0, 2), common, tail, Buffer.from(name));
    offset += 4 + common.length + Buffer.byteLength(name) + data.length;
  }
  const count = Object.keys(files).length;
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...members, ...directory, end]);
}
