import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** An order of the demo on disk. */
export interface Order {
  id: string;
  amount: number;
  currency: string;
  status: string;
  /** Empty if the order has not been refunded. */
  refundId: string;
  /** The order's line in `data/orders.csv`. */
  row: string;
}

export function readOrders(directory: string): Promise<string> {
  return readFile(join(directory, 'data', 'orders.csv'), 'utf8');
}

/** Finds an order by its number; `null` if there is none. */
export function findOrder(table: string, id: string): Order | null {
  const [header = '', ...rows] = table.split(/\r?\n/);
  const row = rows.find((line) => line.startsWith(`${id},`));
  if (row === undefined) return null;
  const columns = fieldsOf(header);
  const fields = fieldsOf(row);
  const value = (column: string): string => fields[columns.indexOf(column)] ?? '';
  return {
    id,
    row,
    amount: Number(value('amount')),
    currency: value('currency'),
    status: value('status'),
    refundId: value('refund_id'),
  };
}

function fieldsOf(row: string): string[] {
  const fields = row.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g);
  return Array.from(fields, ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '');
}
