"""moto's server, which deploys Glimpse's stack as AWS would, or says what it cannot.

moto's CloudFormation ignores types that it does not know and many properties of those
that it knows. Here each type of the stack is made by calls of the AWS API to this same
server: what the API refuses fails the deployment, and so does a type that is not listed.

    python3 serve.py PORT
"""

import functools
import itertools
import json
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError
from moto.awslambda.models import LambdaFunction
from moto.cloudformation import parsing
from moto.cloudformation.exceptions import (
    UnformattedGetAttTemplateException,
    ValidationError,
)
from moto.core.common_models import CloudFormationModel
from moto.dynamodb.responses import DynamoHandler
from moto.iam.access_control import IAMPolicy, PermissionResult
from moto.s3 import notifications
from moto.s3.models import FakeBucket
from moto.server import main
from moto.sqs.models import Queue

Properties = dict[str, Any]
Clients = Callable[[str], Any]


@dataclass
class Made:
    """What `Ref` answers, and `Fn::GetAtt` by attribute."""

    ref: str
    attributes: dict[str, str]


@dataclass(frozen=True)
class Kind:
    """How resources of a type are made, changed and deleted."""

    create: Callable[[Clients, str, Properties], Made]
    delete: Callable[[Clients, Made, Properties], object]
    # Those that `Fn::GetAtt` knows.
    attributes: tuple[str, ...] = ()
    # The property that names it; CloudFormation chooses a name where it is not given.
    name: str = ""
    # Without one, a change is refused.
    update: Callable[[Clients, Made, Properties], object] | None = None


def renamed(value: Any, names: dict[str, str]) -> Any:
    """What CloudFormation writes otherwise than the API, at any depth."""
    if isinstance(value, list):
        return [renamed(each, names) for each in value]
    if isinstance(value, dict):
        return {names.get(k, k): renamed(v, names) for k, v in value.items()}
    return value


def refuse(properties: Properties) -> None:
    if properties:
        raise ValidationError(message=f"expected no {', '.join(sorted(properties))}")


# Buckets ------------------------------------------------------------------------------


def create_bucket(clients: Clients, name: str, properties: Properties) -> Made:
    clients("s3").create_bucket(Bucket=name)
    attributes = {
        "Arn": f"arn:aws:s3:::{name}",
        "DomainName": f"{name}.s3.amazonaws.com",
        "RegionalDomainName": f"{name}.s3.us-east-1.amazonaws.com",
    }
    configure_bucket(clients, name, properties)
    return Made(name, attributes)


def configure_bucket(clients: Clients, name: str, properties: Properties) -> None:
    s3, bucket = clients("s3"), {"Bucket": name}
    given = dict(properties)
    # What a bucket is without, and what the bootstrap's says.
    if given.get("AccessControl") == "Private":
        del given["AccessControl"]
    if encryption := given.pop("BucketEncryption", None):
        names = {
            "ServerSideEncryptionConfiguration": "Rules",
            "ServerSideEncryptionByDefault": "ApplyServerSideEncryptionByDefault",
        }
        s3.put_bucket_encryption(
            **bucket, ServerSideEncryptionConfiguration=renamed(encryption, names)
        )
    if cors := given.pop("CorsConfiguration", None):
        names = {
            "CorsRules": "CORSRules",
            "MaxAge": "MaxAgeSeconds",
            "ExposedHeaders": "ExposeHeaders",
            "Id": "ID",
        }
        s3.put_bucket_cors(**bucket, CORSConfiguration=renamed(cors, names))
    if lifecycle := given.pop("LifecycleConfiguration", None):
        rules = [lifecycle_rule(rule) for rule in lifecycle["Rules"]]
        s3.put_bucket_lifecycle_configuration(
            **bucket, LifecycleConfiguration={"Rules": rules}
        )
    if block := given.pop("PublicAccessBlockConfiguration", None):
        s3.put_public_access_block(**bucket, PublicAccessBlockConfiguration=block)
    if versioning := given.pop("VersioningConfiguration", None):
        s3.put_bucket_versioning(**bucket, VersioningConfiguration=versioning)
    if told := given.pop("NotificationConfiguration", None):
        names = {"Queue": "QueueArn", "S3Key": "Key", "Rules": "FilterRules"}
        queues = [
            {**renamed(rest, names), "Events": [event]}
            for event, rest in (
                (rule.pop("Event"), rule)
                for rule in map(dict, told.pop("QueueConfigurations", []))
            )
        ]
        refuse(told)
        s3.put_bucket_notification_configuration(
            **bucket, NotificationConfiguration={"QueueConfigurations": queues}
        )
    refuse(given)


def lifecycle_rule(rule: Properties) -> Properties:
    given = renamed(rule, {"Id": "ID"})
    filtered = {"Prefix": given.pop("Prefix", "")}
    days = given.pop("ExpirationInDays", None)
    expiration = {} if days is None else {"Expiration": {"Days": days}}
    return {**given, **expiration, "Filter": filtered}


def create_bucket_policy(clients: Clients, _: str, properties: Properties) -> Made:
    bucket, policy = properties["Bucket"], json.dumps(properties["PolicyDocument"])
    clients("s3").put_bucket_policy(Bucket=bucket, Policy=policy)
    return Made(bucket, {})


# Queues -------------------------------------------------------------------------------

QUEUE_ATTRIBUTES = {
    "MessageRetentionPeriod",
    "RedrivePolicy",
    "SqsManagedSseEnabled",
    "VisibilityTimeout",
}


def create_queue(clients: Clients, name: str, properties: Properties) -> Made:
    refuse({k: v for k, v in properties.items() if k not in QUEUE_ATTRIBUTES})
    attributes = {k: json.dumps(v) for k, v in properties.items()}
    made = clients("sqs").create_queue(QueueName=name, Attributes=attributes)
    found = clients("sqs").get_queue_attributes(
        QueueUrl=made["QueueUrl"], AttributeNames=["QueueArn"]
    )
    arn = found["Attributes"]["QueueArn"]
    return Made(made["QueueUrl"], {"Arn": arn, "QueueName": name})


def create_queue_policy(clients: Clients, name: str, properties: Properties) -> Made:
    policy = json.dumps(properties["PolicyDocument"])
    for url in properties["Queues"]:
        clients("sqs").set_queue_attributes(
            QueueUrl=url, Attributes={"Policy": policy}
        )
    return Made(name, {})


# Tables -------------------------------------------------------------------------------


def create_table(clients: Clients, name: str, properties: Properties) -> Made:
    dynamodb, table = clients("dynamodb"), {"TableName": name}
    given = dict(properties)
    to_live = given.pop("TimeToLiveSpecification", None)
    recovery = given.pop("PointInTimeRecoverySpecification", None)
    made = dynamodb.create_table(**table, **given)["TableDescription"]
    if to_live:
        dynamodb.update_time_to_live(**table, TimeToLiveSpecification=to_live)
    if recovery:
        dynamodb.update_continuous_backups(
            **table, PointInTimeRecoverySpecification=recovery
        )
    return Made(name, {"Arn": made["TableArn"]})


# Functions ----------------------------------------------------------------------------


def create_function(clients: Clients, name: str, properties: Properties) -> Made:
    given = dict(properties)
    reserved = given.pop("ReservedConcurrentExecutions", None)
    made = clients("lambda").create_function(FunctionName=name, **given)
    if reserved is not None:
        clients("lambda").put_function_concurrency(
            FunctionName=name, ReservedConcurrentExecutions=reserved
        )
    return Made(name, {"Arn": made["FunctionArn"]})


def change_function(clients: Clients, made: Made, properties: Properties) -> None:
    function, given = {"FunctionName": made.ref}, dict(properties)
    reserved = given.pop("ReservedConcurrentExecutions", None)
    code, architectures = given.pop("Code"), given.pop("Architectures")
    clients("lambda").update_function_code(
        **function, **code, Architectures=architectures
    )
    clients("lambda").update_function_configuration(**function, **given)
    if reserved is None:
        clients("lambda").delete_function_concurrency(**function)
    else:
        clients("lambda").put_function_concurrency(
            **function, ReservedConcurrentExecutions=reserved
        )


def create_mapping(clients: Clients, _: str, properties: Properties) -> Made:
    made = clients("lambda").create_event_source_mapping(**properties)
    return Made(made["UUID"], {"Id": made["UUID"]})


def create_permission(clients: Clients, name: str, properties: Properties) -> Made:
    clients("lambda").add_permission(StatementId=name, **properties)
    return Made(name, {"Id": name})


def delete_permission(clients: Clients, made: Made, properties: Properties) -> None:
    function = properties["FunctionName"]
    clients("lambda").remove_permission(FunctionName=function, StatementId=made.ref)


def create_log_group(clients: Clients, name: str, properties: Properties) -> Made:
    given = dict(properties)
    days = given.pop("RetentionInDays")
    refuse(given)
    clients("logs").create_log_group(logGroupName=name)
    clients("logs").put_retention_policy(logGroupName=name, retentionInDays=days)
    arn = f"arn:aws:logs:us-east-1:123456789012:log-group:{name}:*"
    return Made(name, {"Arn": arn})


# What calls them, and what watches ----------------------------------------------------


def create_rule(clients: Clients, name: str, properties: Properties) -> Made:
    given = dict(properties)
    targets = given.pop("Targets")
    made = clients("events").put_rule(Name=name, **given)
    clients("events").put_targets(Rule=name, Targets=targets)
    return Made(name, {"Arn": made["RuleArn"]})


def delete_rule(clients: Clients, made: Made, properties: Properties) -> None:
    ids = [target["Id"] for target in properties["Targets"]]
    clients("events").remove_targets(Rule=made.ref, Ids=ids)
    clients("events").delete_rule(Name=made.ref)


def create_alarm(clients: Clients, name: str, properties: Properties) -> Made:
    clients("cloudwatch").put_metric_alarm(AlarmName=name, **properties)
    return Made(name, {})


def create_dashboard(clients: Clients, _: str, properties: Properties) -> Made:
    # What is put again is changed.
    clients("cloudwatch").put_dashboard(**properties)
    return Made(properties["DashboardName"], {})


def create_api(clients: Clients, _: str, properties: Properties) -> Made:
    made = clients("apigatewayv2").create_api(**properties)
    return Made(made["ApiId"], {"ApiEndpoint": made["ApiEndpoint"]})


def part_of_api(part: str, identity: str) -> Kind:
    """An integration, a route or a stage, by the calls that end in its name."""

    def create(clients: Clients, _: str, properties: Properties) -> Made:
        made = getattr(clients("apigatewayv2"), f"create_{part}")(**properties)
        return Made(made[identity], {})

    def delete(clients: Clients, made: Made, properties: Properties) -> None:
        call = getattr(clients("apigatewayv2"), f"delete_{part}")
        call(ApiId=properties["ApiId"], **{identity: made.ref})

    return Kind(create, delete)


# Held as given: the API of CloudFront wants other shapes and moto serves nothing by it, and of
# Logs Insights moto knows no saved queries.

numbers = itertools.count(1)


def held(*attributes: str) -> Kind:
    def create(_: Clients, name: str, properties: Properties) -> Made:
        identity = f"E{next(numbers):013d}"
        values = {"Id": identity, "DomainName": f"{identity.lower()}.cloudfront.net"}
        return Made(identity, {each: values[each] for each in attributes})

    return Kind(create, lambda *_: None, attributes)


def gone_by(service: str, call: str, name: str) -> Callable[..., object]:
    """Deletes what `Ref` answers, by a call that wants nothing more."""
    return lambda clients, made, _: getattr(clients(service), call)(**{name: made.ref})


KINDS = {
    "AWS::S3::Bucket": Kind(
        create_bucket,
        gone_by("s3", "delete_bucket", "Bucket"),
        ("Arn", "DomainName", "RegionalDomainName"),
        "BucketName",
    ),
    "AWS::S3::BucketPolicy": Kind(
        create_bucket_policy, gone_by("s3", "delete_bucket_policy", "Bucket")
    ),
    "AWS::SQS::Queue": Kind(
        create_queue, gone_by("sqs", "delete_queue", "QueueUrl"), ("Arn", "QueueName")
    ),
    # It goes with its queue.
    "AWS::SQS::QueuePolicy": Kind(create_queue_policy, lambda *_: None),
    "AWS::DynamoDB::Table": Kind(
        create_table, gone_by("dynamodb", "delete_table", "TableName"), ("Arn",)
    ),
    "AWS::Lambda::Function": Kind(
        create_function,
        gone_by("lambda", "delete_function", "FunctionName"),
        ("Arn",),
        update=change_function,
    ),
    "AWS::Lambda::EventSourceMapping": Kind(
        create_mapping, gone_by("lambda", "delete_event_source_mapping", "UUID")
    ),
    "AWS::Lambda::Permission": Kind(create_permission, delete_permission),
    "AWS::Logs::LogGroup": Kind(
        create_log_group, gone_by("logs", "delete_log_group", "logGroupName"), ("Arn",)
    ),
    "AWS::Events::Rule": Kind(create_rule, delete_rule, ("Arn",)),
    "AWS::CloudWatch::Alarm": Kind(
        create_alarm,
        lambda clients, made, _: clients("cloudwatch").delete_alarms(
            AlarmNames=[made.ref]
        ),
    ),
    "AWS::CloudWatch::Dashboard": Kind(
        create_dashboard,
        lambda clients, made, _: clients("cloudwatch").delete_dashboards(
            DashboardNames=[made.ref]
        ),
        update=lambda clients, made, given: create_dashboard(clients, made.ref, given),
    ),
    "AWS::Logs::QueryDefinition": held(),
    "AWS::ApiGatewayV2::Api": Kind(
        create_api, gone_by("apigatewayv2", "delete_api", "ApiId"), ("ApiEndpoint",)
    ),
    "AWS::ApiGatewayV2::Authorizer": part_of_api("authorizer", "AuthorizerId"),
    "AWS::ApiGatewayV2::Integration": part_of_api("integration", "IntegrationId"),
    "AWS::ApiGatewayV2::Route": part_of_api("route", "RouteId"),
    "AWS::ApiGatewayV2::Stage": part_of_api("stage", "StageName"),
    "AWS::CloudFront::Distribution": held("Id", "DomainName"),
    "AWS::CloudFront::OriginAccessControl": held("Id"),
    "AWS::CloudFront::ResponseHeadersPolicy": held("Id"),
}

# What moto makes itself of the stack, with the properties that it heeds.
BY_MOTO = {
    "AWS::IAM::Role": {"AssumeRolePolicyDocument"},
    "AWS::IAM::Policy": {"PolicyDocument", "PolicyName", "Roles"},
}

# CDK's own stack, which we have no part in.
BOOTSTRAP = "CDKToolkit"


# In CloudFormation's place ------------------------------------------------------------


@functools.cache
def clients_of(region: str) -> Clients:
    endpoint = f"http://127.0.0.1:{PORT}"
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    session = boto3.session.Session(region_name=region, **keys)
    return functools.cache(
        lambda service: session.client(service, endpoint_url=endpoint)
    )


def model_of(kind_name: str, kind: Kind) -> type[CloudFormationModel]:
    """A model as moto wants one, which takes the place of its own of the same type."""

    def said(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except (BotoCoreError, ClientError, ValidationError, KeyError) as error:
            raise ValidationError(message=f"{kind_name}: {error}") from error

    class Model(CloudFormationModel):
        # moto reads a service out of it.
        __module__ = "glimpse.stack"

        def __init__(self, made: Made, properties: Properties) -> None:
            self.made = made
            self.properties = properties

        @property
        def physical_resource_id(self) -> str:
            return self.made.ref

        @staticmethod
        def cloudformation_name_type() -> str:
            return kind.name

        @staticmethod
        def cloudformation_type() -> str:
            return kind_name

        @classmethod
        def has_cfn_attr(cls, attr: str) -> bool:
            return attr in kind.attributes

        def get_cfn_attribute(self, attribute: str) -> str:
            if attribute not in self.made.attributes:
                raise UnformattedGetAttTemplateException()
            return self.made.attributes[attribute]

        @classmethod
        def create_from_cloudformation_json(
            cls, resource_name, cloudformation_json, account_id, region_name, **_
        ):
            given = dict(cloudformation_json.get("Properties", {}))
            given.pop(kind.name, None)
            clients = clients_of(region_name)
            return cls(said(lambda: kind.create(clients, resource_name, given)), given)

        @classmethod
        def update_from_cloudformation_json(
            cls,
            original_resource,
            new_resource_name,
            cloudformation_json,
            account_id,
            region_name,
        ):
            given = dict(cloudformation_json.get("Properties", {}))
            given.pop(kind.name, None)
            update = kind.update
            if given != original_resource.properties:
                if update is None:
                    raise ValidationError(
                        message=f"{kind_name}: serve.py knows no change of one."
                    )
                clients, made = clients_of(region_name), original_resource.made
                said(lambda: update(clients, made, given))
            return cls(original_resource.made, given)

        def delete(self, account_id: str, region_name: str) -> None:
            clients = clients_of(region_name)
            try:
                said(lambda: kind.delete(clients, self.made, self.properties))
            except ValidationError as error:
                # It went with what it was a part of.
                if not is_gone(error.__cause__):
                    raise

    return Model


def is_gone(error: BaseException | None) -> bool:
    code = error.response["Error"]["Code"] if isinstance(error, ClientError) else ""
    return any(word in code for word in ("NotFound", "NoSuch", "NonExistent"))


def check(stack: str, template: Properties) -> None:
    """All that is not known is named before anything is made."""
    if stack == BOOTSTRAP:
        return
    for logical_id, resource in template["Resources"].items():
        kind = resource["Type"]
        if kind in BY_MOTO:
            unknown = set(resource.get("Properties", {})) - BY_MOTO[kind]
            if unknown:
                raise ValidationError(
                    message=f"{logical_id}: {kind} has {', '.join(sorted(unknown))}, "
                    "which test/deploy/moto/serve.py does not know."
                )
        elif kind not in KINDS:
            raise ValidationError(
                message=f"{logical_id}: test/deploy/moto/serve.py does not know {kind}."
            )


def insists_on_tls(statement: Properties) -> bool:
    keys = {key for test in statement.get("Condition", {}).values() for key in test}
    return bool(keys) and keys <= {"aws:SecureTransport", "s3:TlsVersion"}


def install() -> None:
    # They are found as subclasses, the last of a type before the others.
    models = [model_of(name, kind) for name, kind in KINDS.items()]
    parsing.get_model_map.cache_clear()
    for model in models:
        assert parsing.get_model_map()[model.cloudformation_type()] is model

    load, update = parsing.ResourceMap.load, parsing.ResourceMap.update

    def checked_load(self: Any) -> None:
        check(self["AWS::StackName"], self._template)
        load(self)

    def checked_update(self: Any, template: Properties, parameters: Any = None) -> None:
        check(self["AWS::StackName"], template)
        update(self, template, parameters)

    parsing.ResourceMap.load = checked_load
    parsing.ResourceMap.update = checked_update

    # moto would run functions itself, in Docker; whoever tests runs the deployed zips.
    Queue.lambda_event_source_mappings = property(lambda _: {}, lambda *_: None)

    # It speaks plain HTTP, which the buckets refuse: what insists on TLS is passed over.
    def permission_by_tls(self: Any, action: str, resource: str) -> PermissionResult:
        policy = json.loads(self.policy or '{"Statement": []}')
        left = [each for each in policy["Statement"] if not insists_on_tls(each)]
        filtered = IAMPolicy(json.dumps({**policy, "Statement": left}))
        return filtered.is_action_permitted(action, resource)

    FakeBucket.get_permission = permission_by_tls

    # With new code comes the processor that it is for; moto keeps the old one.
    update_code = LambdaFunction.update_function_code

    def update_code_and_processor(self: Any, spec: Properties) -> Any:
        self.architectures = spec.get("Architectures", self.architectures)
        return update_code(self, spec)

    LambdaFunction.update_function_code = update_code_and_processor

    # DynamoDB writes an item at once; moto in steps, which others would see.
    one_at_a_time = threading.RLock()
    act = DynamoHandler.call_action

    def act_alone(self: Any) -> Any:
        with one_at_a_time:
            return act(self)

    DynamoHandler.call_action = act_alone

    # S3 numbers the events of a key; moto does not.
    event = notifications._get_s3_event

    def numbered_event(*given: Any) -> Any:
        body = event(*given)
        for record in body["Records"]:
            record["s3"]["object"]["sequencer"] = f"{time.time_ns():018X}"
        return body

    notifications._get_s3_event = numbered_event


if __name__ == "__main__":
    PORT = int(sys.argv[1])
    install()
    main(["--port", str(PORT)])
