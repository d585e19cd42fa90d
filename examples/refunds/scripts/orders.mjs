import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { formatCsv, parseCsv } from './csv.mjs';

const folder = process.env.SERVICE_WORK_DIR ?? fileURLToPath(new URL('../data', import.meta.url));
const path = join(folder, 'orders.csv');
const lockPath = `${path}.lock`;

/** Finds an order by its number. */
export async function findOrder(id) {
  return pick(parseCsv(await readFile(path, 'utf8')).rows, id);
}

/**
 * Changes one order while no other process can, and writes the file whole or not at all.
 *
 * `change` returns the order as it shall be, or the same object to leave the file alone.
 */
export async function changeOrder(id, change) {
  await lock();
  try {
    const table = parseCsv(await readFile(path, 'utf8'));
    const order = pick(table.rows, id);
    const changed = change(order);
    if (changed !== order) {
      await replace({ ...table, rows: table.rows.map((row) => (row === order ? changed : row)) });
    }
    return changed;
  } finally {
    await rm(lockPath);
    process.off('SIGTERM', finishFirst);
  }
}

function pick(rows, id) {
  const order = rows.find((row) => row.order_id === id);
  if (!order) throw new Error(`there is no order ${id}; check the number`);
  return order;
}

/** Being stopped between lock and unlock would leave the lock behind. */
function finishFirst() {}

async function lock() {
  process.on('SIGTERM', finishFirst);
  for (let attempt = 0; attempt < 200; attempt += 1) {
    try {
      const file = await open(lockPath, 'wx');
      await file.writeFile(`${process.pid}\n`);
      await file.close();
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      await pause(25);
    }
  }
  process.off('SIGTERM', finishFirst);
  throw new Error(
    'another refund has been at work for 5 seconds; if none is running, delete data/orders.csv.lock',
  );
}

async function replace(table) {
  const temporary = `${path}.tmp`;
  const file = await open(temporary, 'w');
  try {
    await file.writeFile(formatCsv(table));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}
