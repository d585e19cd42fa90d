import { vi } from 'vitest';
import type { ConversationPort } from '../../src/actors/channels/conversation-port.ts';
import type { JsonObject } from '../../src/machines/json.ts';

/** A chat in memory, which notes in order what is put into its threads. */
export class MemoryChat implements ConversationPort {
  /** Each word and mark, with the `room` it went to; marks stand in brackets. */
  readonly noted: [room: unknown, words: string][] = [];
  #failure: Error | null = null;

  /** Takes nothing from now on; takes everything again without a failure. */
  fail(failure: Error | null): void {
    this.#failure = failure;
  }

  async mark(ref: JsonObject, mark: string): Promise<void> {
    this.#note(ref, `[${mark}]`);
  }

  async say(ref: JsonObject, markdown: string): Promise<void> {
    this.#note(ref, markdown);
  }

  /** What was said in one room, without the marks. */
  said(room: unknown = 1): string[] {
    const words = this.noted.filter(([where, text]) => where === room && !text.startsWith('['));
    return words.map(([, text]) => text);
  }

  /** Resolves with everything noted in a room once this is the last of it. */
  async ended(last: string, room: unknown = 1): Promise<string[]> {
    const inRoom = () => this.noted.filter(([where]) => where === room).map(([, text]) => text);
    await vi.waitUntil(() => inRoom().at(-1) === last, { timeout: 10_000, interval: 2 });
    return inRoom();
  }

  #note({ room }: JsonObject, words: string): void {
    if (this.#failure !== null) throw this.#failure;
    this.noted.push([room, words]);
  }
}
