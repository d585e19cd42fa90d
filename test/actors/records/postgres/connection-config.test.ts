import { expect, it } from 'vitest';
import { withStrictTls } from '../../../../src/actors/records/postgres/connection-config.ts';

const at = (query: string): string =>
  `postgres://ann:sslmode=require@db.example.com/agents${query}`;

it.each([
  ['?sslmode=require', '?sslmode=verify-full'],
  ['?a=1&sslmode=prefer&b=2', '?a=1&sslmode=verify-full&b=2'],
  ['?sslmode=verify-ca&sslrootcert=/ca.pem', '?sslmode=verify-full&sslrootcert=/ca.pem'],
  ['?sslmode=verify-full', '?sslmode=verify-full'],
  ['?sslmode=disable', '?sslmode=disable'],
  ['?sslmode=no-verify', '?sslmode=no-verify'],
  ['?sslmode=require&uselibpqcompat=true', '?sslmode=require&uselibpqcompat=true'],
  ['?sslmode=required', '?sslmode=required'],
  ['', ''],
])('the connection URL %j becomes %j', (asked, taken) => {
  expect(withStrictTls(at(asked))).toBe(at(taken));
});
