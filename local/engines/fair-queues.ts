// fauxqs forgets the group of a message on a standard queue, by which SQS makes such a queue fair. This
// reaches into the version that package.json pins, for it has no door for it.
import { md5OfMessageAttributes } from '../../node_modules/fauxqs/dist/common/md5.js';
import { SqsQueue } from '../../node_modules/fauxqs/dist/sqs/sqsStore.js';
import type { SqsMessage } from '../../node_modules/fauxqs/dist/sqs/sqsTypes.js';
import { GROUP_ATTRIBUTE } from './group-attribute.ts';

/** Makes all standard queues of this process fair: the message of the group with the fewest under way is next. */
export function makeQueuesFair(): void {
  const { enqueue, dequeue } = SqsQueue.prototype;
  SqsQueue.prototype.enqueue = function enqueueWithGroup(message) {
    if (!this.isFifo()) takeGroup(message);
    enqueue.call(this, message);
  };
  SqsQueue.prototype.dequeue = function dequeueFairly(most, ...rest) {
    if (!this.isFifo()) {
      // What is due now takes part.
      this.processTimers();
      bringForward(this, most);
    }
    return dequeue.call(this, most, ...rest);
  };
}

/** It came as an attribute, as nothing else of a request gets as far as here. */
function takeGroup(message: SqsMessage): void {
  const group = message.messageAttributes[GROUP_ATTRIBUTE]?.StringValue;
  if (group === undefined) return;
  const { [GROUP_ATTRIBUTE]: _, ...others } = message.messageAttributes;
  message.messageGroupId = group;
  message.messageAttributes = others;
  message.md5OfMessageAttributes = md5OfMessageAttributes(others);
}

/** Moves so many messages to the front, in the order in which they are to be received. */
function bringForward({ messages, inflightMessages }: SqsQueue, most: number): void {
  if (messages.every(({ messageGroupId }) => messageGroupId === messages[0]?.messageGroupId))
    return;
  // A message without a group is one of its own.
  const groupOf = ({ messageGroupId, messageId }: SqsMessage) => messageGroupId ?? messageId;
  const underWay = new Map<string, number>();
  const add = (message: SqsMessage) =>
    underWay.set(groupOf(message), (underWay.get(groupOf(message)) ?? 0) + 1);
  for (const { message } of inflightMessages.values()) add(message);
  for (let place = 0; place < Math.min(most, messages.length); place++) {
    let next = place;
    let least = Number.POSITIVE_INFINITY;
    for (let index = place; index < messages.length && least > 0; index++) {
      const message = messages[index];
      if (message === undefined) continue;
      const count = underWay.get(groupOf(message)) ?? 0;
      if (count < least) [least, next] = [count, index];
    }
    const [message] = messages.splice(next, 1);
    if (message === undefined) return;
    messages.splice(place, 0, message);
    add(message);
  }
}
