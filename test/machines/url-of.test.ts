import { expect, it } from 'vitest';
import { localUrl, urlOf } from '../../src/machines/url-of.ts';

it.each([
  ['agent.example', 'http://agent.example:8080'],
  ['10.0.0.1', 'http://10.0.0.1:8080'],
  ['fd00::1', 'http://[fd00::1]:8080'],
])('a server on %s is at %s', (host, url) => {
  expect(urlOf(host, 8080)).toBe(url);
  expect(localUrl({ host, port: 8080 })).toBe(url);
});

it.each([
  ['0.0.0.0', 'http://127.0.0.1:8080'],
  ['::', 'http://[::1]:8080'],
])('a server on every interface (%s) is reached on this machine at %s', (host, url) => {
  expect(localUrl({ host, port: 8080 })).toBe(url);
});
