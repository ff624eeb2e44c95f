import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockFile } from '../../../../src/lab/lock.ts';
import { guestKey } from '../../../../src/lab/roce/boot-files.ts';
import { Wire } from '../../../../src/lab/roce/frames.ts';
import { Relay } from '../../../../src/lab/roce/relay.ts';
import {
  findResident,
  ResidentFolder,
  type ResidentRecord,
  requireSameVersion,
} from '../../../../src/lab/roce/resident.ts';
import { runtimeDirectory } from '../../../../src/lab/runtime.ts';
import { socketPair } from './wires.ts';

const RECORD: ResidentRecord = {
  guest: guestKey(),
  kernel: '6.1.0',
  acceleration: 'emulation',
  pid: 1,
  qemuPid: 2,
  since: '2026-01-01T00:00:00.000Z',
  death: null,
};

let base = '';
let before: string | undefined;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'rdmatool-test-'));
  before = process.env['XDG_RUNTIME_DIR'];
  process.env['XDG_RUNTIME_DIR'] = base;
});
afterEach(() => {
  if (before === undefined) delete process.env['XDG_RUNTIME_DIR'];
  else process.env['XDG_RUNTIME_DIR'] = before;
  rmSync(base, { recursive: true, force: true });
});

const isEmpty = (): boolean => !existsSync(join(base, 'rdmatool'));

describe('a guest that is up', () => {
  it('is not there where there is nothing, and looking for it makes nothing', async () => {
    expect(await findResident()).toEqual({ state: 'down' });
    expect(isEmpty()).toBe(true);
  });

  it('is starting while a process holds the lock', async () => {
    const folder = new ResidentFolder();
    const lock = await folder.lock();
    expect(await folder.lock()).toBeNull();
    expect(await findResident()).toEqual({ state: 'starting' });
    if (lock) folder.remove(lock);
    expect(isEmpty()).toBe(true);
  });

  it('is found by its socket', async () => {
    const folder = new ResidentFolder();
    const lock = await folder.lock();
    const [, ourSide] = socketPair();
    const relay = new Relay(new Wire(ourSide), '6.1.0', () => {});
    const server = createServer((socket) => relay.add(socket)).listen(folder.socketPath);
    folder.write(RECORD);
    const found = await findResident();
    expect(found).toMatchObject({ state: 'up', record: RECORD });
    if (found.state === 'up') {
      expect(() => requireSameVersion(found)).not.toThrow();
      const other = { ...found, record: { ...RECORD, guest: 'other' } };
      expect(() => requireSameVersion(other)).toThrow('another version of rdmatool');
      await found.wire.closed;
    }
    relay.close();
    server.close();
    if (lock) folder.remove(lock);
    expect(isEmpty()).toBe(true);
  });

  it('that has died is told once, with why, and then removed', async () => {
    const folder = new ResidentFolder();
    (await folder.lock())?.release();
    const death = { reason: 'QEMU ended with 1', console: ['panic'] };
    folder.write({ ...RECORD, death });
    expect(await findResident()).toEqual({ state: 'died', record: { ...RECORD, death }, death });
    expect(await findResident()).toEqual({ state: 'down' });
    expect(isEmpty()).toBe(true);
  });

  it('whose keeper was killed has died, too', async () => {
    const folder = new ResidentFolder();
    const lock = await folder.lock();
    folder.write(RECORD);
    lock?.release();
    expect(await findResident()).toMatchObject({ state: 'died', death: { console: [] } });
  });
});

describe('the folder of what is up', () => {
  it('is in the runtime directory of the user, unless others may write there', () => {
    expect(runtimeDirectory({ XDG_RUNTIME_DIR: base })).toBe(join(base, 'rdmatool'));
    chmodSync(base, 0o770);
    expect(runtimeDirectory({ XDG_RUNTIME_DIR: base })).toBe(`/tmp/rdmatool-${process.getuid?.()}`);
    expect(runtimeDirectory({})).toBe(`/tmp/rdmatool-${process.getuid?.()}`);
    expect(runtimeDirectory({ XDG_RUNTIME_DIR: 'relative' })).toMatch(/^\/tmp\//);
  });

  it('is refused where others may write to it, and where it is a link', () => {
    mkdirSync(join(base, 'rdmatool'), { mode: 0o755 });
    chmodSync(join(base, 'rdmatool'), 0o777);
    expect(() => new ResidentFolder()).toThrow('not a directory of this user alone');
    rmSync(join(base, 'rdmatool'), { recursive: true });
    symlinkSync('/tmp', join(base, 'rdmatool'));
    expect(() => new ResidentFolder()).toThrow('not a directory of this user alone');
  });
});

describe('a lock', () => {
  it('is one process at a time, and free again when it is released', async () => {
    const path = join(base, 'x/lock');
    const lock = await lockFile(path);
    expect(await lockFile(path)).toBeNull();
    const waiting = lockFile(path, { wait: true });
    lock?.release();
    lock?.release();
    const next = await waiting;
    expect(next?.isReleased).toBe(false);
    expect(await lockFile(path)).toBeNull();
    next?.release();
    expect(existsSync(path)).toBe(false);
  });
});
