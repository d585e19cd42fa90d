import { expect, it } from 'vitest';
import { wrongHost } from '../../../src/machines/wizard/wrong-host.ts';

const label = 'a'.repeat(63);

it.each([
  'api.example.com',
  '*.example.com',
  'api.example.com:8443',
  '*.example.com:443',
  'API.Example.COM',
  'localhost',
  'a.b',
  'host1',
  '1password.com',
  'a.1b',
  'a.0xg',
  '_dmarc.a_b._',
  'xn--bcher-kva.example',
  'a--b.c-d',
  'x:1',
  'x:65535',
  `${label}.example.com`,
  `${label}.${label}.${label}.${'b'.repeat(61)}`,
])('the host %s is accepted', (host) => {
  expect(wrongHost(host)).toBeNull();
});

it.each([
  '',
  '*',
  '*.',
  '**.example.com',
  '*.*.example.com',
  'api.*.com',
  'x*.example.com',
  'https://api.example.com',
  'api.example.com/v1',
  'api.example.com:8443/v1',
  'ann@example.com',
  'ann:pw@example.com',
  'ann:example',
  'a b.com',
  ' a.com',
  'a.com ',
  'a.com\n',
  'bücher.example',
  'a..b',
  '.a',
  'a.',
  '-a.com',
  'a-.com',
  `${label}a.com`,
  `${label}.${label}.${label}.${'b'.repeat(62)}`,
  'x:',
  'x:0',
  'x:65536',
  'x:123456',
  'x:00080a',
  'x:http',
  ':80',
  '[::1]',
  '::1',
  '10.0.0.1',
  '10.0.0.1:80',
  '1',
  'a.b.10',
  '0x7f',
  '0x',
  'a.b.0xFF',
])('%j is refused, because it is not a host name', (host) => {
  expect(wrongHost(host)).toBe(
    'this is no host name; write a host such as api.example.com, *.example.com or api.example.com:8443',
  );
});
