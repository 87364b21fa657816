"""Builders of knowledge graphs at any endpoint of the OpenAI protocol, each dumped as its package dumps::

    pip install langchain-experimental langchain-openai    # in an environment of their own; or
    pip install llama-index-core llama-index-llms-openai-like
    pip install kg-gen
    python graph_builders.py langchain http://localhost:8000/v1 texts.jsonl langchain.jsonl

The dump is a row of a study by its path alone, ``systems: {langchain: {predictions: langchain.jsonl}}``
(docs/systems.md). Tried with langchain-experimental 0.4.2, llama-index-core 0.14.25 and kg-gen 0.4.0.
"""

import json
import sys


def langchain(url, texts):
    from langchain_core.documents import Document
    from langchain_experimental.graph_transformers import LLMGraphTransformer
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(base_url=url, api_key="none", model="gpt-4o", temperature=0)
    builder = LLMGraphTransformer(llm=model)
    return [
        document.model_dump()
        for document in builder.convert_to_graph_documents([Document(page_content=t) for t in texts])
    ]


def llama_index(url, texts):
    from llama_index.core.indices.property_graph import SimpleLLMPathExtractor
    from llama_index.core.schema import TextNode
    from llama_index.llms.openai_like import OpenAILike

    model = OpenAILike(api_base=url, api_key="none", model="scripted", is_chat_model=True)
    return [
        node.to_dict() for node in SimpleLLMPathExtractor(llm=model, num_workers=1)([TextNode(text=t) for t in texts])
    ]


def kg_gen(url, texts):
    from kg_gen import KGGen

    builder = KGGen(model="openai/scripted", api_base=url, api_key="none", temperature=0.0)
    return [{"text": text, **json.loads(builder.generate(input_data=text).model_dump_json())} for text in texts]


if __name__ == "__main__":
    name, url, texts, out = sys.argv[1:]
    with open(texts, encoding="utf-8") as stream:
        lines = [json.loads(line)["text"] for line in stream]
    with open(out, "w", encoding="utf-8") as stream:
        for row in globals()[name](url, lines):
            stream.write(json.dumps(row, default=str) + "\n")
