"""The model file: one ``.safetensors`` file that is written atomically and validated when it is read."""
