import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { urlOf } from '../src/machines/url-of.ts';
import { namedUrl } from '../src/named-url.ts';

/** The name of an agent that listens on these addresses, and the lines of its log. */
function named(host: string, publicUrl = '') {
  const warned: unknown[] = [];
  const silent = () => undefined;
  const warn = (fields: object, message: string) => void warned.push([fields, message]);
  const url = namedUrl({
    host,
    port: 8081,
    publicUrl,
    log: { info: silent, warn, error: silent },
  });
  return { url, warned };
}

describe('the public address of an agent', () => {
  it.each([
    ['127.0.0.1', 'http://127.0.0.1:8081'],
    ['agents.internal', 'http://agents.internal:8081'],
    ['::1', 'http://[::1]:8081'],
  ])('is its listening address, such as %s', (host, url) => {
    expect([named(host), urlOf(host, 8081)]).toEqual([{ url, warned: [] }, url]);
  });

  it.each(['0.0.0.0', '::'])('names the machine where it listens on %s, and warns', (host) => {
    const url = `http://${hostname()}:8081`;
    expect(named(host)).toEqual({
      url,
      warned: [
        [
          { url },
          `the agent listens on every address (${host}), so its card names this machine; set server.public_url to where others reach it`,
        ],
      ],
    });
  });

  it.each(['127.0.0.1', '0.0.0.0', '::'])(
    'is server.public_url for any listening address, %s',
    (host) => {
      expect(named(host, 'https://agents.example.com')).toEqual({
        url: 'https://agents.example.com',
        warned: [],
      });
    },
  );
});
