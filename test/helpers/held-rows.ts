import { setImmediate } from 'node:timers/promises';

/** A call of rows that waits for a test. */
export interface HeldCall {
  method: string;
  args: unknown[];
  /** Answers it with what it did when it was asked, or does now. */
  answer(): Promise<void>;
  /** Has it fail, whether it was done or not. */
  fail(error?: Error): Promise<void>;
}

/** Rows that may answer long after they were asked, as those of a server do. */
export class HeldRows<Rows extends object> {
  readonly rows: Rows;
  /** Calls that wait, oldest first. */
  readonly calls: HeldCall[] = [];
  readonly #held = new Map<string, boolean>();

  constructor(rows: Rows) {
    this.rows = new Proxy(rows, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
        return (...args: unknown[]) => {
          const run = () => method.apply(target, args);
          return this.#held.has(String(name)) ? this.#hold(String(name), args, run) : run();
        };
      },
    });
  }

  /**
   * Holds the calls of a method from now on: done when they are asked for and answered late, or done as late as they are
   * answered.
   */
  hold(method: keyof Rows & string, done: 'early' | 'late' = 'early'): void {
    this.#held.set(method, done === 'early');
  }

  /** Has the calls of a method answered at once again. */
  release(method: keyof Rows & string): void {
    this.#held.delete(method);
  }

  #hold(method: string, args: unknown[], run: () => Promise<unknown>): Promise<unknown> {
    const early = this.#held.get(method) === true ? run() : null;
    early?.catch(() => undefined);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const leave = async (finish: () => void) => {
      this.calls.splice(this.calls.indexOf(call), 1);
      finish();
      for (let turn = 0; turn < 4; turn += 1) await setImmediate();
    };
    const call: HeldCall = {
      method,
      args,
      answer: () => leave(() => resolve(early ?? run())),
      fail: (error = new Error('the server is gone')) => leave(() => reject(error)),
    };
    this.calls.push(call);
    return promise;
  }
}
