import { z } from 'zod';
import { REGION } from '../template/intrinsics.ts';

const attributeValue = z.looseObject({
  DataType: z.string(),
  StringValue: z.string().optional(),
  BinaryValue: z.string().optional(),
});

export const received = z.looseObject({
  Messages: z
    .array(
      z.looseObject({
        MessageId: z.string(),
        ReceiptHandle: z.string(),
        Body: z.string(),
        MD5OfBody: z.string(),
        MD5OfMessageAttributes: z.string().optional(),
        Attributes: z.record(z.string(), z.string()).default({}),
        MessageAttributes: z.record(z.string(), attributeValue).default({}),
      }),
    )
    .default([]),
});
export type Message = z.infer<typeof received>['Messages'][number];

/** The event that Lambda hands to a function for these messages. */
export function sqsEvent(
  messages: readonly Message[],
  queueArn: string,
  deadLetterSourceArn: string | undefined,
): object {
  return {
    Records: messages.map((message) => ({
      messageId: message.MessageId,
      receiptHandle: message.ReceiptHandle,
      body: message.Body,
      attributes: {
        ...message.Attributes,
        ...(deadLetterSourceArn === undefined
          ? {}
          : { DeadLetterQueueSourceArn: deadLetterSourceArn }),
      },
      messageAttributes: Object.fromEntries(
        Object.entries(message.MessageAttributes).map(([name, value]) => [name, inLambda(value)]),
      ),
      md5OfBody: message.MD5OfBody,
      ...(message.MD5OfMessageAttributes === undefined
        ? {}
        : { md5OfMessageAttributes: message.MD5OfMessageAttributes }),
      eventSource: 'aws:sqs',
      eventSourceARN: queueArn,
      awsRegion: REGION,
    })),
  };
}

function inLambda({ DataType, StringValue, BinaryValue }: z.infer<typeof attributeValue>): object {
  return {
    ...(StringValue === undefined ? {} : { stringValue: StringValue }),
    ...(BinaryValue === undefined ? {} : { binaryValue: BinaryValue }),
    stringListValues: [],
    binaryListValues: [],
    dataType: DataType,
  };
}
