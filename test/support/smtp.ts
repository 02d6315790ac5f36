import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

interface Received {
  /** The envelope: the actual recipients. */
  recipients: string[];
  mail: Email;
}

export interface TestSmtp extends AsyncDisposable {
  url: string;
  received: Received[];
}

/** A real SMTP server on a loopback port. `refuse` rejects every recipient; `port` is any free one by default. */
export async function startSmtp({ refuse = false, port = 0 } = {}): Promise<TestSmtp> {
  const received: Received[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo: (_address, _session, done) => done(refuse ? new Error('no such mailbox') : undefined),
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        const mail = await PostalMime.parse(Buffer.concat(chunks));
        received.push({ recipients: envelope.rcptTo.map(({ address }) => address), mail });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: opened } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${opened}`,
    received,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** The point at which a faulty server stops replying ("hangs"), or its other fault. */
export type SmtpFault =
  | 'hangs before the greeting'
  | 'hangs after RCPT'
  | 'hangs after the message'
  | 'never ends its greeting'
  | 'closes the connection'
  | 'answers 421';

export interface FaultySmtp extends AsyncDisposable {
  url: string;
  /** The connections that are open. */
  countConnections(): number;
  /** The connections that have been open at any time. */
  countOpened(): number;
}

export async function startFaultySmtp(fault: SmtpFault): Promise<FaultySmtp> {
  const sockets = new Set<Socket>();
  let opened = 0;
  const server = createServer((socket) => {
    opened++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    greet(socket, fault);
    const lines = createInterface(socket);
    lines.on('error', () => {});
    lines.on('line', (line) => answerLine(socket, line, fault));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    countConnections: () => sockets.size,
    countOpened: () => opened,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function greet(socket: Socket, fault: SmtpFault): void {
  if (fault === 'hangs before the greeting') return;
  if (fault === 'closes the connection') socket.destroy();
  else if (fault === 'answers 421') socket.end('421 too busy\r\n');
  else if (fault === 'never ends its greeting') {
    const timer = setInterval(() => socket.write('220-wait\r\n'), 20);
    socket.on('close', () => clearInterval(timer));
  } else socket.write('220 ready\r\n');
}

function answerLine(socket: Socket, line: string, fault: SmtpFault): void {
  if (line.startsWith('RCPT') && fault === 'hangs after RCPT') return;
  if (line.startsWith('DATA')) socket.write('354 go on\r\n');
  else if (/^(EHLO|HELO|MAIL|RCPT|RSET)\b/.test(line)) socket.write('250 ok\r\n');
}
