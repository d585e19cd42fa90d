import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What a test takes long for: it starts programs, signs a log for each of its rows, or asks a property many times. */
const slow = ["'node:child_process'", 'verifyText(', "'fast-check'"];

/** Runs slow tests after all others, as one test that notices a change is enough. */
export class CheapestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification) => {
      const text = readFileSync(moduleId, 'utf8');
      return slow.some((mark) => text.includes(mark)) ? 1 : 0;
    };
    return files.toSorted((one, other) => isSlow(one) - isSlow(other));
  }
}
