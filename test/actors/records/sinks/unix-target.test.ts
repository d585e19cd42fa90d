import { getEventListeners, once } from 'node:events';
import { createServer, Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { unixTarget } from '../../../../src/actors/records/sinks/unix-target.ts';
import { temporaryFolder } from '../../../helpers/test-system.ts';

/** A listener on a UNIX socket, and its first caller once there is one. */
async function openListener() {
  const path = join(temporaryFolder(), 'audit.sock');
  const server = createServer();
  const caller = once(server, 'connection').then(([socket]) => {
    onTestFinished(() => void (socket as Socket).destroy());
    return socket as Socket;
  });
  server.listen(path);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { path, caller };
}

describe('a UNIX socket that accepts lines', () => {
  it('gets them, and its connection ends', async () => {
    const { path, caller } = await openListener();
    const { signal } = new AbortController();
    const target = unixTarget(path);
    await target.connect(signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await target.deliver([Buffer.from('a\n'), Buffer.from('b\n')], signal);
    target.disconnect();
    expect((await (await caller).toArray()).join('')).toBe('a\nb\n');
  });

  it('is detected as disconnected after any output', async () => {
    const { path, caller } = await openListener();
    const { signal } = new AbortController();
    const target = unixTarget(path);
    await target.connect(signal);
    (await caller).end('x'.repeat(10_000));
    await target.hungUp();
    await expect(target.deliver([Buffer.from('a\n')], signal)).rejects.toMatchObject({
      code: 'sink_failed',
    });
  });

  it('stays open after the connect timeout has passed', async () => {
    const { path, caller } = await openListener();
    const connecting = new AbortController();
    const target = unixTarget(path);
    onTestFinished(() => target.disconnect());
    await target.connect(connecting.signal);
    connecting.abort();
    await target.deliver([Buffer.from('a\n')], new AbortController().signal);
    const [piece] = await once(await caller, 'data');
    expect(String(piece)).toBe('a\n');
  });
});

describe('a UNIX socket that accepts no lines', () => {
  it("is reported with the system's code", async () => {
    const path = join(temporaryFolder(), 'audit.sock');
    const { signal } = new AbortController();
    await expect(unixTarget(path).connect(signal)).rejects.toMatchObject({
      code: 'sink_failed',
      message: 'no process reads the socket (ENOENT)',
      cause: { code: 'ENOENT' },
    });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('is not awaited after the sink stops', async () => {
    const dialled: Socket[] = [];
    vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket) {
      dialled.push(this);
      return this;
    });
    const stopping = new AbortController();
    const connecting = unixTarget('/nowhere').connect(stopping.signal);
    stopping.abort(new Error('enough'));
    await expect(connecting).rejects.toMatchObject({
      message: 'no process reads the socket (no reason given)',
      cause: { message: 'enough' },
    });
    expect(dialled.map(({ destroyed }) => destroyed)).toEqual([true]);
  });
});
