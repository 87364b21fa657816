"""Builders of knowledge graphs at a scripted endpoint, each dumped as its package dumps::

    pip install langchain-experimental langchain-openai    # in an environment of their own; or
    pip install llama-index-core llama-index-llms-openai-like
    pip install kg-gen
    python -m benchmarks.graph_builders langchain gold.jsonl langchain.jsonl 60

The endpoint answers with the gold triples of the first 60 sentences, of which it leaves out 15 %
and turns round 10 %, in the form that the builder asks for; of CoNLL04 it calls three relations by
other names. The dump is a row of a study by its path alone, ``systems: {langchain: {predictions:
langchain.jsonl}}``, and ``relations: FILE`` names its relations as the corpus does. Tried with
langchain-experimental 0.4.2, llama-index-core 0.14.25 and kg-gen 0.4.0.
"""

import json
import random
import sys

from tests.support.fake_endpoint import FakeEndpoint

NAMES = {
    "Work_For": "Works_For",
    "Live_In": "Lives_In",
    "Kill": "Killed",
}  # as a model that was given none says them


def scripted(rows):
    """Return text -> triples, with what the endpoint leaves out and turns round."""
    chance, found = random.Random(0), {}
    for row in rows:
        triples = [
            (t["subject"]["text"], NAMES.get(t["relation"], t["relation"]), t["object"]["text"])
            for t in row["triples"]
        ]
        triples = [triple for triple in triples if chance.random() >= 0.15]
        found[row["text"]] = [t if chance.random() >= 0.1 else t[::-1] for t in triples]
    return found


def langchain(url, texts):
    from langchain_core.documents import Document
    from langchain_experimental.graph_transformers import LLMGraphTransformer
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(base_url=url, api_key="none", model="gpt-4o", temperature=0)
    documents = [Document(page_content=text) for text in texts]
    return [
        graph.model_dump()
        for graph in LLMGraphTransformer(llm=model).convert_to_graph_documents(documents)
    ]


def said_to_langchain(triples, asked):
    ends = ("source_node_id", "type", "target_node_id")
    kinds = {"source_node_type": "Entity", "target_node_type": "Entity"}
    nodes = [
        {"id": name, "type": "Entity"}
        for name in dict.fromkeys(part for t in triples for part in t[::2])
    ]
    return json.dumps(
        {
            "nodes": nodes,
            "relationships": [dict(zip(ends, t, strict=True)) | kinds for t in triples],
        }
    )


def llama_index(url, texts):
    from llama_index.core.indices.property_graph import SimpleLLMPathExtractor
    from llama_index.core.schema import TextNode
    from llama_index.llms.openai_like import OpenAILike

    model = OpenAILike(api_base=url, api_key="none", model="scripted", is_chat_model=True)
    nodes = [TextNode(text=text) for text in texts]
    return [node.to_dict() for node in SimpleLLMPathExtractor(llm=model, num_workers=1)(nodes)]


def said_to_llama_index(triples, asked):
    return "\n".join(f"({', '.join(triple)})" for triple in triples)


def kg_gen(url, texts):
    from kg_gen import KGGen

    builder = KGGen(model="openai/scripted", api_base=url, api_key="none", temperature=0.0)
    return [
        {"text": text, **json.loads(builder.generate(input_data=text).model_dump_json())}
        for text in texts
    ]


def said_to_kg_gen(triples, asked):
    names = list(dict.fromkeys(part for triple in triples for part in triple[::2]))
    edges = [{"subject": s, "predicate": r, "object": o} for s, r, o in triples]
    values = {"entities": names, "relations": edges}
    wanted = [name for name in values if f"[[ ## {name} ## ]]\n{{{name}}}" in asked]
    return (
        "\n\n".join(f"[[ ## {name} ## ]]\n{json.dumps(values[name])}" for name in wanted)
        + "\n\n[[ ## completed ## ]]"
    )


if __name__ == "__main__":
    name, gold, out, limit = sys.argv[1:]
    with open(gold, encoding="utf-8") as stream:
        said = scripted([json.loads(line) for line in stream][: int(limit)])

    def answer(body):
        asked = "\n".join(str(message["content"]) for message in body["messages"])
        last = str(body["messages"][-1]["content"])
        text = max((text for text in said if text in last), key=len)
        return globals()[f"said_to_{name}"](said[text], asked)

    with FakeEndpoint(answer) as fake, open(out, "w", encoding="utf-8") as stream:
        for row in globals()[name](fake.url, list(said)):
            stream.write(json.dumps(row, default=str) + "\n")
