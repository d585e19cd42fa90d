import { expect, it } from 'vitest';
import { readAgentUrl } from '../../../src/machines/card/read-agent-url.ts';

it.each([
  ['https://desk.example.com', 'https://desk.example.com/'],
  ['http://desk.example.com:8080', 'http://desk.example.com:8080/'],
  ['https://desk.example.com/agents/refunds//', 'https://desk.example.com/agents/refunds'],
  ['https://desk.example.com//agents', 'https://desk.example.com//agents'],
  ['https://desk.example.com/?key=1#top', 'https://desk.example.com/'],
  ['https://desk.example.com/.well-known/agent-card.json', 'https://desk.example.com/'],
  ['https://desk.example.com/refunds/.well-known/agent.json', 'https://desk.example.com/refunds'],
  [
    'https://desk.example.com/.well-known/agent.json/refunds',
    'https://desk.example.com/.well-known/agent.json/refunds',
  ],
  ['desk', null],
  ['', null],
  ['file:///etc/passwd', null],
  ['ftp://desk.example.com', null],
  ['https://ann:secret@desk.example.com', null],
  ['https://ann@desk.example.com', null],
  ['https://:secret@desk.example.com', null],
])('reads from %j the agent URL %j', (text, url) => {
  expect(readAgentUrl(text)?.href ?? null).toBe(url);
});
